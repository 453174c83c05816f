package cloud

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Permits reports whether a permission includes an action: one of its actions matches,
// and none of its exceptions (NotAction, notActions, notDataActions) does.
func Permits(p preview.CloudPermission, action string) bool {
	if !Covers(p, action) {
		return false
	}
	for _, field := range []string{notAction, notActions, notDataActions} {
		if slices.ContainsFunc(texts(p.Conditions[field]), func(pattern string) bool { return Glob(strings.ToLower(pattern), strings.ToLower(action)) }) {
			return false
		}
	}
	return true
}

// samples are actions so different that a pattern which matches all of them matches
// every action.
var samples = []string{"iam:CreateUser", "s3:GetObject", "ec2:RunInstances", "sts:AssumeRole", "kms:Decrypt", "logs:PutLogEvents"}

// EveryAction reports whether a pattern matches every action, however it is written.
func EveryAction(pattern string) bool {
	if pattern != "" && strings.Trim(pattern, "*:") == "" {
		return true
	}
	return !slices.ContainsFunc(samples, func(action string) bool { return !Glob(strings.ToLower(pattern), strings.ToLower(action)) })
}

// Wide reports whether a permission is not limited to named resources. Account, region
// and type in an ARN name no resource, and neither does a pattern that begins with a
// wildcard. An AWS statement without resources is wide. Permissions of other clouds
// count as wide here; their scopes are judged where they matter.
func Wide(p preview.CloudPermission) bool {
	if p.Provider != AWS {
		return true
	}
	return len(p.Resources) == 0 || slices.ContainsFunc(p.Resources, wideResource)
}

func wideResource(resource string) bool {
	parts := strings.SplitN(resource, ":", 6)
	if len(parts) < 6 {
		return strings.HasPrefix(resource, "*") || strings.HasPrefix(resource, "?") || strings.HasPrefix(resource, "arn:") && strings.HasSuffix(resource, "*")
	}
	if open(parts[5]) {
		return true
	}
	at := strings.IndexAny(parts[5], "/:")
	service := parts[2]
	if at < 0 || service == "s3" || service == "sns" || service == "sqs" { // no kind before the name
		return false
	}
	return open(parts[5][at+1:])
}

// open reports whether a name begins with a wildcard or is empty.
func open(name string) bool {
	return name == "" || strings.HasPrefix(name, "*") || strings.HasPrefix(name, "?")
}

// Vacuous reports whether conditions hold for nearly every request: none limits who
// makes it, or for what.
func Vacuous(conditions map[string]any) bool {
	for operator, v := range conditions {
		keys, ok := v.(map[string]any)
		if !ok {
			return false
		}
		for key, values := range keys {
			if !vacuous(operator, strings.ToLower(key), conditionValues(values)) {
				return false
			}
		}
	}
	return true
}

// conditionValues returns the values of a condition as strings.
func conditionValues(v any) []string {
	if flag, ok := v.(bool); ok {
		if flag {
			return []string{"true"}
		}
		return []string{"false"}
	}
	return texts(v)
}

// anyone are condition keys, in lower case, that limit when or how a request is made,
// and not its caller or target.
var anyone = []string{
	"aws:currenttime", "aws:epochtime", "aws:referer", "aws:requestedregion", "aws:securetransport", "aws:tokenissuetime", "aws:useragent",
	"aws:viaawsservice", "aws:principalisawsservice", "s3:signatureversion", "s3:tlsversion", "s3:authtype",
}

func vacuous(operator, key string, values []string) bool {
	plain, of := strings.CutPrefix(operator, "ForAllValues:")
	if of || strings.HasSuffix(operator, "IfExists") {
		return true // holds where the request does not have the key
	}
	plain = strings.TrimPrefix(plain, "ForAnyValue:")
	switch {
	case slices.Contains(anyone, key), strings.Contains(plain, "Not"), plain == "Null":
		return true
	case plain == "Bool":
		return slices.Contains(values, "false")
	case plain == "IpAddress":
		return everyAddress(values)
	case plain == "StringLike" || strings.HasPrefix(plain, "Arn"):
		return slices.ContainsFunc(values, func(value string) bool {
			return Glob(value, "zz") || Glob(value, "arn:aws:iam::999999999999:role/zz")
		})
	}
	return false
}

// everyAddress reports whether one of the IP ranges is the whole internet, or half of
// it.
func everyAddress(ranges []string) bool {
	return slices.ContainsFunc(ranges, func(text string) bool {
		prefix, err := netip.ParsePrefix(text)
		return err == nil && prefix.Bits() <= 1
	})
}
