package cloud

import (
	"cmp"
	keys "maps"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Admission is a statement of a trust policy or resource policy that admits more
// identities than it seems to.
type Admission struct {
	Text string
	// Everyone: nothing limits who is admitted. Takes: they get an identity, a key or
	// control of the policy itself.
	Everyone, Takes bool
}

// Admissions returns the admissions of AWS policies anywhere in an object that say who
// may use a role, bucket, queue or key. Policies are found by their shape.
func Admissions(body map[string]any) []Admission {
	var out []Admission
	walkPolicies(body, 0, func(statements []map[string]any) {
		for _, statement := range statements {
			if !strings.EqualFold(cmp.Or(preview.String(statement, "Effect"), allow), allow) {
				continue
			}
			out = append(out, admitted(statement)...)
		}
	})
	return out
}

// maxDepth is how deep objects are searched for policies.
const maxDepth = 64

// walkPolicies calls found with the statements of every policy in a value: of objects
// with the field Statement, and of texts with such an object.
func walkPolicies(v any, depth int, found func([]map[string]any)) {
	if depth > maxDepth {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		if statements, _ := policyDocument(v); looksLikePolicy(statements) {
			found(statements)
			return
		}
		for _, key := range sortedKeys(v) {
			walkPolicies(v[key], depth+1, found)
		}
	case []any:
		for _, item := range v {
			walkPolicies(item, depth+1, found)
		}
	case string:
		if strings.Contains(v, "Statement") && strings.Contains(v, "Effect") {
			if statements, _ := policyDocument(strings.TrimSpace(v)); looksLikePolicy(statements) {
				found(statements)
			}
		}
	}
}

func looksLikePolicy(statements []map[string]any) bool {
	return slices.ContainsFunc(statements, func(s map[string]any) bool {
		return preview.String(s, "Effect") != "" && (s["Action"] != nil || s[notAction] != nil || s["Principal"] != nil)
	})
}

// admitted returns the admissions of the principals of one statement.
func admitted(statement map[string]any) []Admission {
	actions := texts(statement["Action"])
	conditions := preview.Map(statement, "Condition")
	open := Vacuous(conditions)
	takes := slices.ContainsFunc(actions, takesOver) || statement[notAction] != nil
	what := "may do " + strings.Join(actions, ", ")
	var out []Admission
	add := func(everyone bool, who string) {
		out = append(out, Admission{who + " " + what, everyone, takes})
	}
	if statement["NotPrincipal"] != nil {
		add(open, "everyone but a list")
	}
	principal := statement["Principal"]
	if principal == all {
		principal = map[string]any{awsPrincipal: all}
	}
	byKind, _ := principal.(map[string]any)
	for _, kind := range sortedKeys(byKind) {
		for _, name := range texts(byKind[kind]) {
			switch {
			case kind == awsPrincipal && (name == all || strings.HasPrefix(name, "arn:") && strings.Contains(name, "::*:")):
				add(open, "everyone")
			case kind == "Federated":
				if subject, limited := federatedSubject(conditions); !limited {
					add(true, "every identity of "+name)
				} else if subject != "" {
					add(false, "every identity like "+subject+" of "+name)
				}
			case kind == awsPrincipal && assumes(actions) && (strings.HasSuffix(name, ":root") || len(name) == 12 && strings.Trim(name, "0123456789") == ""):
				if open {
					add(false, "every identity of account "+name)
				}
			}
		}
	}
	return out
}

// awsPrincipal is the key in Principal for accounts, roles and users.
const awsPrincipal = "AWS"

func assumes(actions []string) bool {
	return slices.ContainsFunc(actions, func(a string) bool {
		return Glob(strings.ToLower(a), "sts:assumerole") || Glob(strings.ToLower(a), "sts:assumerolewithwebidentity")
	})
}

// takesOver reports whether an action gives an identity, a key or control of the
// policy, or changes what others run or read.
func takesOver(action string) bool {
	action = strings.ToLower(action)
	return slices.ContainsFunc([]string{
		"sts:assumerole", "sts:assumerolewithwebidentity", "sts:assumerolewithsaml", "kms:decrypt", "kms:creategrant", "kms:putkeypolicy",
		"secretsmanager:getsecretvalue", "s3:putbucketpolicy", "s3:putobject", "s3:deleteobject", "lambda:updatefunctioncode", "ecr:putimage",
	}, func(of string) bool { return Glob(action, of) })
}

// federatedSubject returns the pattern of token subjects that conditions admit, empty
// if they are exact. limited is false if no condition limits the subject.
func federatedSubject(conditions map[string]any) (pattern string, limited bool) {
	for operator, v := range conditions {
		byKey, _ := v.(map[string]any)
		for key, values := range byKey {
			if !strings.HasSuffix(strings.ToLower(key), ":sub") && !strings.HasSuffix(strings.ToLower(key), ":oid") {
				continue
			}
			list := conditionValues(values)
			if vacuous(operator, strings.ToLower(key), list) || slices.ContainsFunc(list, anySubject) && strings.Contains(operator, "Like") {
				continue
			}
			limited = true
			for _, value := range list {
				if strings.Contains(operator, "Like") && strings.ContainsAny(value, "*?") {
					pattern = value
				}
			}
		}
	}
	return pattern, limited
}

// anySubject reports whether a pattern matches ServiceAccounts of every namespace, or
// repositories of every owner.
func anySubject(pattern string) bool {
	return Glob(pattern, "system:serviceaccount:zz:zz") || Glob(pattern, "repo:zz/zz:ref:refs/heads/zz") || Glob(pattern, "system:serviceaccount:zz:default")
}

// stated adds the permissions of policies in objects of any kind, found by their shape.
// Statements with a Principal are left out, as they are no permissions of an identity.
func (s *scanner) stated(body map[string]any) {
	if preview.IsKind(body, preview.KindCustomResourceDefinition) {
		return
	}
	if preview.IsKind(body, preview.KindSecret) { // whose texts [scanner.embedded] reads
		body = keys.Clone(body)
		delete(body, "data")
		delete(body, "stringData")
	}
	origin := objectName(body)
	walkPolicies(body, 0, func(statements []map[string]any) {
		statements = slices.DeleteFunc(slices.Clone(statements), func(statement map[string]any) bool {
			return statement["Principal"] != nil || statement["NotPrincipal"] != nil
		})
		if len(statements) > 0 {
			s.policy(map[string]any{"Statement": anyMaps(statements)}, origin)
		}
	})
}

func sortedKeys(m map[string]any) []string { return slices.Sorted(keys.Keys(m)) }

func anyMaps(list []map[string]any) []any {
	out := make([]any, 0, len(list))
	for _, item := range list {
		out = append(out, item)
	}
	return out
}
