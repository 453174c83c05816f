package registryv1

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
)

// entryAt decodes what begins on a line of a file: a document, or an entry of a
// list, up to where the indentation ends.
func entryAt(t *testing.T, file string, line int) map[string]any {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(data), "\n")
	if line < 1 || line > len(lines) {
		t.Fatalf("%s has no line %d", file, line)
	}
	lines = lines[line-1:]
	indent := len(lines[0]) - len(strings.TrimLeft(lines[0], " "))
	entry := strings.HasPrefix(lines[0][indent:], "- ")
	end := 1
	for ; end < len(lines) && !strings.HasPrefix(lines[end], "---"); end++ {
		text := strings.TrimLeft(lines[end], " ")
		if depth := len(lines[end]) - len(text); text != "" && entry && (depth < indent || depth == indent) {
			break
		}
	}
	docs, err := preview.Decode([]byte(strings.Join(lines[:end], "\n")))
	if err != nil || len(docs) != 1 {
		t.Fatalf("%s:%d: %d documents, %v", file, line, len(docs), err)
	}
	value := docs[0]
	if list, ok := value.([]any); ok && len(list) == 1 {
		value = list[0]
	}
	body, _ := value.(map[string]any)
	return body
}

func TestTheLineOfAnObjectHoldsWhatItWasMadeFrom(t *testing.T) {
	checked := map[string]int{}
	for i, dir := range corpustest.Bundles(t) {
		if i%12 != 0 {
			continue
		}
		out, err := renderDefault(t, dir, format.Params{})
		if err != nil {
			continue // refused, as another test says
		}
		for _, o := range out.Objects {
			file := filepath.Join(dir, o.Origin.File)
			if text, err := os.ReadFile(file); err != nil || strings.HasPrefix(strings.TrimSpace(string(text)), "{") {
				continue // of JSON only the beginning is known
			}
			entry := entryAt(t, file, o.Origin.Line)
			ref, id := preview.RefOf(o.Body), preview.RefOf(o.Body).ID()
			if preview.String(entry, "kind") == ref.Kind {
				checked["as it is"]++
				if preview.RefOf(entry).Name != ref.Name {
					t.Errorf("%s: %s:%d begins %s", id, file, o.Origin.Line, preview.RefOf(entry).ID())
				}
				continue
			}
			checked[ref.Kind]++
			account := preview.String(entry, "serviceAccountName")
			switch ref.Kind {
			case "ServiceAccount":
				wantEqual(t, id, account, ref.Name)
			case "Role", "ClusterRole":
				wantEqual(t, id+": verbs of the first rule", firstVerbs(o.Body), firstVerbs(entry))
			case "RoleBinding", "ClusterRoleBinding":
				subject := preview.Map(map[string]any{"s": o.Body["subjects"].([]any)[0]}, "s")
				if name := preview.String(subject, "name"); name != account && account != "" {
					t.Errorf("%s: binds %s, line %d of %s is about %s", id, name, o.Origin.Line, file, account)
				}
			case "Deployment":
				wantEqual(t, id, preview.String(entry, "name"), ref.Name)
			case "Service", "Issuer", "Certificate":
				if !strings.HasPrefix(ref.Name, preview.String(entry, "name")) {
					t.Errorf("%s is made from %s", id, preview.String(entry, "name"))
				}
			case "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration":
				wantEqual(t, id, strings.TrimSuffix(preview.String(entry, "generateName"), "-"), ref.Name)
			default:
				t.Errorf("%s: %s:%d begins something else", id, file, o.Origin.Line)
			}
		}
	}
	for _, kind := range []string{"as it is", "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Deployment"} {
		if checked[kind] == 0 {
			t.Errorf("none of %s was checked", kind)
		}
	}
	t.Logf("checked %v", checked)
}

func firstVerbs(role map[string]any) any {
	rules, _ := role["rules"].([]any)
	if len(rules) == 0 {
		return nil
	}
	first, _ := rules[0].(map[string]any)
	return first["verbs"]
}
