package cloud

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
)

// grantingCommand is a command of a cloud's own tools that gives an identity access.
// Publishers write such commands into documents that state no policy.
type grantingCommand struct {
	words     string // that begin it, "*" for one or two words of any kind
	provider  string
	roles     []string // the flags with roles
	resources []string // the flags that say on what; the first argument without a flag if empty
	named     bool     // resources are FLAG=VALUE, as IBM Cloud's attributes are
	policy    string   // the flag with a policy as JSON
}

var (
	ibmRoles      = []string{"--roles", "-r"}
	ibmAttributes = []string{"--service-name", "--service-instance", "--region", "--resource-type", "--resource", "--resource-group-name", "--resource-group-id"}
	noResources   = []string{"-"}
)

var grantingCommands = [...]grantingCommand{
	{"az ad sp create-for-rbac", Azure, []string{"--role"}, []string{scopesFlag}, false, ""},
	{"az role assignment create", Azure, []string{"--role"}, []string{"--scope"}, false, ""},
	{"aws iam attach-role-policy", AWS, []string{"--policy-arn"}, noResources, false, ""},
	{"aws iam attach-user-policy", AWS, []string{"--policy-arn"}, noResources, false, ""},
	{"aws iam attach-group-policy", AWS, []string{"--policy-arn"}, noResources, false, ""},
	{"aws eks associate-access-policy", AWS, []string{"--policy-arn"}, noResources, false, ""},
	{"aws iam put-role-policy", AWS, nil, noResources, false, "--policy-document"},
	{"aws iam put-user-policy", AWS, nil, noResources, false, "--policy-document"},
	{"aws iam create-policy", AWS, nil, noResources, false, "--policy-document"},
	{"eksctl create iamserviceaccount", AWS, []string{"--attach-policy-arn", "--attach-role-arn"}, noResources, false, ""},
	{"gcloud * add-iam-policy-binding", GCP, []string{"--role"}, nil, false, ""},
	{"ibmcloud iam service-policy-create", IBM, ibmRoles, ibmAttributes, true, ""},
	{"ibmcloud iam access-group-policy-create", IBM, ibmRoles, ibmAttributes, true, ""},
	{"ibmcloud iam trusted-profile-policy-create", IBM, ibmRoles, ibmAttributes, true, ""},
}

// actsAs is the role of Google Cloud that lets a ServiceAccount of a cluster act as an
// identity. As a trust policy of AWS, it says who that is, and not what it may do.
const actsAs = "roles/iam.workloadIdentityUser"

// commandField is the field of the document that a command is kept as.
const commandField = "command"

// matches returns the words of a command that follow those that begin it.
func (g grantingCommand) matches(words []string) ([]string, bool) {
	begins := strings.Fields(g.words)
	for i, want := range begins {
		switch {
		case len(words) <= i:
			return nil, false
		case want == "*":
			for n := 1; n <= 2 && i+n < len(words); n++ {
				if words[i+n] == begins[i+1] {
					return words[i+n+1:], true
				}
			}
			return nil, false
		case words[i] != want:
			return nil, false
		}
	}
	return words[len(begins):], true
}

// permission returns what a command gives, nil where it names no role and no policy.
func (g grantingCommand) permission(words []string) []preview.CloudPermission {
	flags, first := flagsOf(words)
	values := func(names []string) []string {
		var out []string
		for _, name := range names {
			for _, value := range flags[name] {
				if g.named && !slices.Contains(g.roles, name) {
					value = strings.TrimLeft(name, "-") + "=" + value
				}
				out = append(out, value)
			}
		}
		return out
	}
	if g.policy != "" {
		text := strings.Join(flags[g.policy], " ")
		if list, whole := policyDocument(text); !whole || !statesActions(list) {
			return nil
		}
		one := &scanner{}
		one.policy(text, "")
		return one.out.Permissions
	}
	roles := slices.DeleteFunc(values(g.roles), func(role string) bool { return role == actsAs })
	if len(roles) == 0 {
		return nil
	}
	p := preview.CloudPermission{Provider: g.provider, Effect: allow, Roles: roles, Resources: values(g.resources)}
	if g.resources == nil && first != "" {
		p.Resources = []string{first}
	}
	return []preview.CloudPermission{p}
}

// scopesFlag is the flag that several words follow as its values.
const scopesFlag = "--scopes"

// flagsOf returns the values of the flags among the words of a command, and the first
// word that belongs to none. Several values stand between commas.
func flagsOf(words []string) (flags map[string][]string, first string) {
	flags, name := map[string][]string{}, ""
	for _, word := range words {
		if strings.HasPrefix(word, "-") {
			var value string
			var given bool
			if name, value, given = strings.Cut(word, "="); given {
				flags[name] = append(flags[name], split(value)...)
				name = ""
			}
			continue
		}
		if name == "" {
			if first == "" {
				first = word
			}
			continue
		}
		flags[name] = append(flags[name], split(word)...)
		if name != scopesFlag {
			name = ""
		}
	}
	return flags, first
}

// split splits what stands between commas, but for JSON.
func split(value string) []string {
	if strings.HasPrefix(strings.TrimSpace(value), "{") {
		return []string{value}
	}
	return slices.DeleteFunc(strings.Split(value, ","), func(text string) bool { return text == "" })
}

// commandOf returns what reads a document that is a command, nil for none that gives
// access.
func commandOf(doc map[string]any, place string) func(*scanner, map[string]any) {
	words := texts(doc[commandField])
	for _, g := range grantingCommands {
		rest, ok := g.matches(words)
		if !ok {
			continue
		}
		found := g.permission(rest)
		if len(found) == 0 {
			return nil
		}
		return func(s *scanner, _ map[string]any) {
			for _, p := range found {
				p.Origin = place
				s.permit(p)
			}
		}
	}
	return nil
}

// tool matches the beginning of a line with a command of a cloud's tools, with the prompt
// or the assignment before it.
var tool = lazyregexp.New(`^\s*(\$\s+)?(sudo\s+)?((export\s+)?[A-Za-z_][A-Za-z0-9_]*="?\$\()?(az|aws|eksctl|gcloud|ibmcloud)\s`)

// commands returns the commands in a block of code that give access to a cloud, each as
// a document.
func commands(block string) []map[string]any {
	var out []map[string]any
	joined := strings.ReplaceAll(strings.ReplaceAll(block, "\\\r\n", " "), "\\\n", " ")
	for line := range strings.Lines(joined) {
		begins := tool.FindStringSubmatchIndex(line)
		if begins == nil {
			continue
		}
		doc := map[string]any{commandField: anys(shellWords(line[begins[10]:]))}
		if commandOf(doc, "") != nil {
			out = append(out, doc)
		}
	}
	return out
}

// shellWords returns the words of the first command in a line of a shell, without its
// quotes. Substitutions stay as written.
func shellWords(line string) []string {
	var out []string
	var word strings.Builder
	end := func() {
		if word.Len() > 0 {
			out = append(out, word.String())
		}
		word.Reset()
	}
	quote, depth, escaped := rune(0), 0, false
	for _, r := range line {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped = true
		case r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case depth == 0 && (r == '"' || r == '\''):
			quote = r
		case r == '(':
			depth++
			word.WriteRune(r)
		case r == ')' && depth > 0:
			depth--
			word.WriteRune(r)
		case depth > 0:
			word.WriteRune(r)
		case strings.ContainsRune(" \t\r\n", r):
			end()
		case strings.ContainsRune("|;&)", r), r == '#' && word.Len() == 0: // a parenthesis ends the substitution that the command is in
			end()
			return out
		default:
			word.WriteRune(r)
		}
	}
	end()
	return out
}
