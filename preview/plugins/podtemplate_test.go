package plugins

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/source/auth"
)

func liveHost() map[string]any {
	return map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "server", "namespace": "hosts"},
		"spec": map[string]any{"template": map[string]any{
			"metadata": map[string]any{"labels": map[string]any{"app": "server"}},
			"spec": map[string]any{
				"initContainers": []any{map[string]any{"name": "migrate", "image": "example.com/server:1", "workingDir": "/srv"}},
				"containers":     []any{map[string]any{"name": "server", "image": "example.com/server:1", "command": []any{"/opt/server"}, "workingDir": "/app/work", "volumeMounts": []any{map[string]any{"name": "data", "mountPath": "/data"}}}},
				"volumes":        []any{map[string]any{"name": "data", "emptyDir": map[string]any{}}},
			},
		}},
	}
}

// TestTheInitContainerRunsTheCustomImageOrElseTheDefault also tells of an image
// that may be another tomorrow.
func TestTheInitContainerRunsTheCustomImageOrElseTheDefault(t *testing.T) {
	const pinned = "example.com/own@sha256:0000000000000000000000000000000000000000000000000000000000000001"
	for _, test := range []struct {
		name, images, location string
		want, refusal          string
		byTag                  bool
	}{
		{"the custom one", "custom-init-image: " + pinned + ", default-init-image: example.com/kop:1", "/var/lib/optimus/plugins", pinned, "", false},
		{"the default one", "default-init-image: " + pinned, "/var/lib/optimus/plugins", pinned, "", false},
		{"a custom one by tag", "custom-init-image: example.com/own:1, default-init-image: " + pinned, "/var/lib/optimus/plugins", "example.com/own:1", "", true},
		{"none", "", "/var/lib/optimus/plugins", "", "spec.host names no image for the init container; write custom-init-image or default-init-image", false},
		{"plugins beside everything else", "default-init-image: " + pinned, "/plugins", pinned, "", false},
		{"plugins in place of everything", "default-init-image: " + pinned, "/", "", "a pod needs an absolute path of a directory that is for plugins alone", false},
		{"plugins in a relative directory", "default-init-image: " + pinned, "plugins", "", "a pod needs an absolute path of a directory that is for plugins alone", false},
		{"plugins over the working directory", "default-init-image: " + pinned, "/app", "", "installLocation /app would cover the working directory /app/work of container server", false},
		{"plugins over the program", "default-init-image: " + pinned, "/opt", "", "installLocation /opt would cover the program /opt/server of container server", false},
		{"plugins over another volume", "default-init-image: " + pinned, "/data", "", "installLocation /data would cover the volume at /data of container server", false},
		{"plugins over the programs of the image", "default-init-image: " + pinned, "/usr/bin", "", "installLocation /usr/bin would cover the directory /usr/bin of the image of container migrate", false},
		{"plugins above them", "default-init-image: " + pinned, "/usr/local", "", "installLocation /usr/local would cover the directory /usr/local/bin of the image of container migrate", false},
		{"plugins over the settings of the image", "default-init-image: " + pinned, "/etc", "", "installLocation /etc would cover the directory /etc of the image of container migrate", false},
		{"plugins in a directory of their own below them", "default-init-image: " + pinned, "/usr/lib/optimus/plugins", pinned, "", false},
		{"plugins below a volume", "default-init-image: " + pinned, "/data/plugins", pinned, "", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			host := "{deployment: {namespace: hosts, name: server}, " + test.images + "}"
			set, err := Parse(hostedSet(host, "\n  installLocation: "+test.location), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if noted := len(set.Host.initImageNotes()) > 0; noted != test.byTag {
				t.Errorf("told of a tag: %t", noted)
			}
			live := liveHost()
			boot, err := PodTemplate(set, live, Used{})
			if test.refusal != "" {
				if err == nil || !strings.Contains(err.Error(), test.refusal) {
					t.Fatalf("got %v, want %s", err, test.refusal)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			pod, _ := preview.PodTemplate(boot.Template)
			first := preview.Maps(pod, "initContainers")[0]
			if preview.String(first, "name") != engine.BootContainer || preview.String(first, "image") != test.want || len(boot.Needs) > 0 {
				t.Errorf("the first init container is %v, and needs %q", first, boot.Needs)
			}
			for _, container := range append(preview.Maps(pod, "initContainers")[1:], preview.Maps(pod, "containers")...) {
				mounts := preview.Maps(container, "volumeMounts")
				last := mounts[len(mounts)-1]
				if preview.String(last, "mountPath") != test.location || preview.String(last, "subPath") != "plugins" || last["readOnly"] != true || preview.String(container, "image") != "example.com/server:1" {
					t.Errorf("container %v", container)
				}
			}
			before, _ := preview.PodTemplate(live)
			if len(preview.Maps(before, "volumes")) != 1 || len(preview.Maps(pod, "volumes")) != 4 {
				t.Errorf("volumes %v, of the live host %v", pod["volumes"], before["volumes"])
			}
		})
	}
}

// Many images have their program in /app, and start it from there.
func TestADirectoryWhereTheProgramMayBeIsNotCovered(t *testing.T) {
	const refused = "the directory /app of the image"
	for _, test := range []struct {
		name      string
		container map[string]any
		want      string
	}{
		{"the image says all", map[string]any{}, refused},
		{"a program by its name", map[string]any{"command": []any{"optimus"}}, refused},
		{"a program by its path", map[string]any{"command": []any{"/opt/optimus"}}, ""},
		{"a program below it", map[string]any{"command": []any{"/app/optimus"}}, "the program /app/optimus"},
		{"a working directory elsewhere", map[string]any{"workingDir": "/srv"}, ""},
	} {
		if got := covered(test.container, "/app"); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
		if got := covered(test.container, "/app/.plugins"); got != "" {
			t.Errorf("%s: a directory below it covers %s", test.name, got)
		}
	}
}

// The preview's inputs come into the pod by reference, and the archive for Optimus'
// clients lies where its server looks for it.
func TestAPodGetsCredentialsAndTheCAByReference(t *testing.T) {
	const host = "{deployment: {namespace: hosts, name: server}, default-init-image: example.com/kop:1}"
	with := func(login string) *Set {
		t.Helper()
		text := "apiVersion: kubectl-operator/v1alpha1\nkind: PluginSet\nmetadata: {name: optimus}\nspec:\n  installLocation: /app/.plugins\n  host: " + host +
			"\n  plugins:\n  - {output: a, reference: 'https://example.com/a', auth: {bearer: " + login + "}}\n  - {output: b, reference: 'https://example.com/b', auth: {bearer: " + login + "}}\n"
		set, err := Parse([]byte(text), Options{Dir: "/home/me"})
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	yaml := func(b *Boot) string { return diff.Manifest(b.Template) }
	boot, err := PodTemplate(with("{env: TOKEN}"), liveHost(), Used{CAFile: "/home/me/my ca.pem"})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"- name: TOKEN\n", "key: TOKEN\n", "name: optimus-credentials\n", "- --ca-file\n", "- /etc/kubectl-operator-ca/ca.crt\n", "name: optimus-ca\n",
		"mountPath: /app/yaml-plugins.zip\n", "subPath: yaml-plugins.zip\n",
	} {
		if !strings.Contains(yaml(boot), want) {
			t.Errorf("%q is not in\n%s", want, yaml(boot))
		}
	}
	if want := []string{
		`The credentials that the preview used come from a Secret: printf %s "$TOKEN" | kubectl create secret generic optimus-credentials --namespace hosts --from-file TOKEN=/dev/stdin`,
		"The CA that the preview trusted comes from a ConfigMap: kubectl create configmap optimus-ca --namespace hosts --from-file 'ca.crt=/home/me/my ca.pem'",
	}; !slices.Equal(boot.Needs, want) {
		t.Errorf("needs %q", boot.Needs)
	}
	boot, err = PodTemplate(with("{file: /etc/optimus/token}"), liveHost(), Used{})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"mountPath: /etc/optimus/token\n", "subPath: token\n", "secretName: optimus-credentials\n"} {
		if !strings.Contains(yaml(boot), want) {
			t.Errorf("%q is not in\n%s", want, yaml(boot))
		}
	}
	if _, err = PodTemplate(with("{file: token}"), liveHost(), Used{}); err == nil || !strings.Contains(err.Error(), "its login is in the file /home/me/token next to the config, and a pod does not have that file") {
		t.Errorf("got %v", err)
	}
}

// Each credential has its own key, and the command that makes them is one for a shell.
func TestCredentialsOfOneNameHaveKeysOfTheirOwn(t *testing.T) {
	of := func(logins ...string) (*Boot, error) {
		t.Helper()
		more := ""
		for i, login := range logins {
			more += fmt.Sprintf("\n  - {output: p%d, reference: 'https://example.com/%d', auth: {bearer: %s}}", i, i, login)
		}
		text := "apiVersion: kubectl-operator/v1alpha1\nkind: PluginSet\nmetadata: {name: optimus}\nspec:\n  installLocation: /app/.plugins\n" +
			"  host: {deployment: {namespace: hosts, name: server}, default-init-image: example.com/kop:1}\n  plugins:" + more + "\n"
		set, err := Parse([]byte(text), Options{})
		if err != nil {
			t.Fatal(err)
		}
		return PodTemplate(set, liveHost(), Used{})
	}
	boot, err := of("{file: /a/token}", "{file: /b/token}", "{file: /a/token}", "{env: token}", "{file: '/c/my token'}")
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"The credentials that the preview used come from a Secret: printf %s \"$token\" | kubectl create secret generic optimus-credentials --namespace hosts " +
		"--from-file 2-token=/b/token --from-file 3-token=/dev/stdin --from-file 'my_token=/c/my token' --from-file token=/a/token"}; !slices.Equal(boot.Needs, want) {
		t.Errorf("needs\n%q, want\n%q", boot.Needs, want)
	}
	pod, _ := preview.PodTemplate(boot.Template)
	mounted := map[string]string{}
	for _, m := range preview.Maps(preview.Maps(pod, "initContainers")[0], "volumeMounts") {
		if m["name"] == volumeCredentials {
			mounted[preview.String(m, "mountPath")] += preview.String(m, "subPath")
		}
	}
	if want := map[string]string{"/a/token": "token", "/b/token": "2-token", "/c/my token": "my_token"}; !maps.Equal(mounted, want) {
		t.Errorf("mounted %v, want %v", mounted, want)
	}
	if _, err := of("{env: 'T$(id)'}"); err == nil || !strings.Contains(err.Error(), "plugin p0: a credential is in the variable T$(id), a name that no shell takes") {
		t.Errorf("got %v", err)
	}
}

// The command for a Secret is run as it is printed: values of any text come into it, and
// none of them is an argument of a program, as the list of processes shows.
func TestTheCommandOfCredentialsMakesTheirSecret(t *testing.T) {
	kubectl, err := filepath.Abs("../../bin/kubectl") // which the sandbox has next to it
	if _, missing := os.Stat(kubectl); err != nil || missing != nil {
		t.Skip("skipped: the control plane is not built")
	}
	key := filepath.Join(t.TempDir(), "my key")
	if err := os.WriteFile(key, []byte("of a file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	set, err := Parse(hostedSet("{deployment: {namespace: hosts, name: server}, default-init-image: example.com/kop:1}", "\n  installLocation: /app/.plugins"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	values := []string{"two\nlines\n", "", `it's "$HOME" %s \n`, "a", "b", "c", "d", "last"}
	for _, n := range []int{0, 1, 2, len(values)} {
		want, names := map[string]string{"KEY": "of a file\n"}, []string{}
		for i, value := range values[:n] {
			name := fmt.Sprintf("TOKEN_%d", i)
			t.Setenv(name, value)
			names, want[name] = append(names, name), value
		}
		boot, err := PodTemplate(set, liveHost(), Used{Places: auth.Places{Variables: names, Files: map[string]string{"KEY": key}}})
		if err != nil {
			t.Fatal(err)
		}
		_, command, _ := strings.Cut(boot.Needs[0], ": ")
		run := exec.Command("sh", "-c", `kubectl() { "$KUBECTL" "$@" --dry-run=client -o json; }; `+command)
		run.Env = append(os.Environ(), "KUBECTL="+kubectl)
		out, err := run.Output()
		var made struct{ Data map[string][]byte }
		if err != nil || json.Unmarshal(out, &made) != nil {
			t.Fatalf("%s: %v: %s", command, err, out)
		}
		for name, value := range want {
			if string(made.Data[name]) != value {
				t.Errorf("%d variables: %s is %q, want %q", n, name, made.Data[name], value)
			}
		}
		if len(made.Data) != len(want) || strings.Contains(command, "--from-literal") {
			t.Errorf("%d variables: %s makes %d keys", n, command, len(made.Data))
		}
	}
	many := make([]string, len(values)+1)
	for i := range many {
		many[i] = fmt.Sprintf("TOKEN_%d", i)
	}
	if _, err := PodTemplate(set, liveHost(), Used{Places: auth.Places{Variables: many}}); err == nil || !strings.Contains(err.Error(), "the credentials are in 9 variables; at most 8") {
		t.Errorf("got %v", err)
	}
}

// The preview's environment goes into the pod in the same way: variables, files by the
// variables that lead to them, and registry logins.
func TestAPodGetsTheCredentialsOfTheEnvironmentByReference(t *testing.T) {
	set, err := Parse(hostedSet("{deployment: {namespace: hosts, name: server}, default-init-image: example.com/kop:1}", "\n  installLocation: /app/.plugins"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name  string
		used  Used
		has   []string
		needs []string
	}{
		{"nothing", Used{}, nil, nil},
		{"a key for a bucket", Used{Places: auth.Places{Variables: []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}}},
			[]string{"- name: AWS_SECRET_ACCESS_KEY\n", "key: AWS_SECRET_ACCESS_KEY\n"},
			[]string{`The credentials that the preview used come from a Secret: printf %s "$AWS_ACCESS_KEY_ID" | { printf %s "$AWS_SECRET_ACCESS_KEY" | kubectl create secret generic NAME-credentials --namespace hosts --from-file AWS_ACCESS_KEY_ID=/dev/fd/3 --from-file AWS_SECRET_ACCESS_KEY=/dev/stdin; } 3<&0`}},
		{"a key in a file", Used{Places: auth.Places{Files: map[string]string{"GOOGLE_APPLICATION_CREDENTIALS": "/home/me/key.json"}}},
			[]string{"value: /etc/kubectl-operator-credentials/GOOGLE_APPLICATION_CREDENTIALS\n", "mountPath: /etc/kubectl-operator-credentials/GOOGLE_APPLICATION_CREDENTIALS\n", "subPath: GOOGLE_APPLICATION_CREDENTIALS\n"},
			[]string{"The credentials that the preview used come from a Secret: kubectl create secret generic NAME-credentials --namespace hosts --from-file GOOGLE_APPLICATION_CREDENTIALS=/home/me/key.json"}},
		{"a config file of Docker", Used{Places: auth.Places{Registry: "/home/me/.docker/config.json"}},
			[]string{"- --registry-config\n", "- /etc/kubectl-operator-registry/.dockerconfigjson\n", "secretName: NAME-registry\n"},
			[]string{"The credentials for registries come from a Secret: kubectl create secret docker-registry NAME-registry --namespace hosts --from-file .dockerconfigjson=/home/me/.docker/config.json"}},
		{"a credential helper", Used{Places: auth.Places{Registry: "/home/me/.docker/config.json", Helped: []string{"ghcr.io"}}}, []string{"secretName: NAME-registry\n"},
			[]string{`The credentials for registries come from a Secret, which has what a credential helper keeps for ghcr.io; with that in USERNAME and PASSWORD: printf '{"auths":{"%s":{"username":"%s","password":"%s"}}}' ghcr.io "$USERNAME" "$PASSWORD" | kubectl create secret docker-registry NAME-registry --namespace hosts --from-file .dockerconfigjson=/dev/stdin`}},
		{"a pull secret of the host's namespace", Used{PullSecrets: []string{"hosts/pull"}}, []string{"secretName: pull\n"}, nil},
		{"a pull secret of another namespace", Used{PullSecrets: []string{"team/pull"}}, []string{"secretName: NAME-registry\n"},
			[]string{`The credentials for registries come from a Secret, which is made of the pull secret team/pull: kubectl get secret pull --namespace team -o 'go-template={{index .data ".dockerconfigjson" | base64decode}}' | kubectl create secret docker-registry NAME-registry --namespace hosts --from-file .dockerconfigjson=/dev/stdin`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			boot, err := PodTemplate(set, liveHost(), test.used)
			if err != nil {
				t.Fatal(err)
			}
			named := func(text string) string { return strings.ReplaceAll(text, "NAME-", set.Host.ConfigMap.Name+"-") }
			for _, want := range test.has {
				if text := diff.Manifest(boot.Template); !strings.Contains(text, named(want)) {
					t.Errorf("%q is not in\n%s", named(want), text)
				}
			}
			var needs []string
			for _, want := range test.needs {
				needs = append(needs, named(want))
			}
			if !slices.Equal(boot.Needs, needs) {
				t.Errorf("needs\n%q, want\n%q", boot.Needs, needs)
			}
		})
	}
}

// A server of Optimus that installs plugins when it starts would write over what was
// reviewed, and ends where it cannot.
func TestAServerDoesNotInstallPluginsItself(t *testing.T) {
	set, err := Parse(hostedSet("{deployment: {namespace: hosts, name: server}, default-init-image: example.com/kop:1}", "\n  installLocation: /srv/.plugins"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	const dropped = "Container server is started without --install-plugins: the init container has installed what was reviewed, and the server would replace it"
	for _, test := range []struct {
		name          string
		command, args []any
		want          []any // the arguments
		needs         string
		refusal       string
	}{
		{name: "it does not", command: []any{"/opt/optimus"}, args: []any{"serve"}, want: []any{"serve"}},
		{name: "by a flag", command: []any{"/opt/optimus"}, args: []any{"serve", "--install-plugins", "-c", "x"}, want: []any{"serve", "-c", "x"}, needs: dropped},
		{name: "by a flag with a value", command: []any{"/opt/optimus"}, args: []any{"serve", "--install-plugins=true"}, want: []any{"serve"}, needs: dropped},
		{name: "by a shell", command: []any{"sh", "-c"}, args: []any{"optimus serve --install-plugins"}, refusal: "container server runs a command with --install-plugins"},
	} {
		t.Run(test.name, func(t *testing.T) {
			live := liveHost()
			pod, _ := preview.PodTemplate(live)
			container := preview.Maps(pod, "containers")[0]
			container["command"], container["args"] = test.command, test.args
			boot, err := PodTemplate(set, live, Used{})
			if test.refusal != "" {
				if err == nil || !strings.Contains(err.Error(), test.refusal) {
					t.Errorf("got %v, want %s", err, test.refusal)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			pod, _ = preview.PodTemplate(boot.Template)
			if got := preview.List(preview.Maps(pod, "containers")[0], "args"); !slices.Equal(got, test.want) || strings.Join(boot.Needs, "") != test.needs {
				t.Errorf("arguments %v, needs %q", got, boot.Needs)
			}
		})
	}
}
