package kustomize

import (
	"strings"
	"testing"
)

// Each is refused with one sentence, which names the file and the field, and ends with the
// command that would work.
func TestWhatIsRefused(t *testing.T) {
	// The commands that would work: for a file of a server, and for a repository.
	vendor := func(address, file, why string) string {
		return " is remote" + why + "; in a copy of it: curl -fsSLo ./" + file + " " + address + " && sed -i 's|" + strings.ReplaceAll(address, ".", `\.`) + "|" + file + "|' ./kustomization.yaml && kubectl operator preview ."
	}
	const noPin, noCommit = ", and nothing pins it", " is remote and names no commit, so that it may move"
	pinned := func(name, at, repository, names string) string {
		return noCommit + "; in a copy of it: sed -i 's|" + strings.ReplaceAll(name, ".", `\.`) + "|" + at + `?ref='"$(git ls-remote ` + repository + " " + names + ` | tail -n 1 | cut -f 1)"'|' ./kustomization.yaml && kubectl operator preview .`
	}
	const v1 = "refs/heads/v1 refs/tags/v1 'refs/tags/v1^{}'"
	built := func(by, why string) string {
		return why + "; in a copy of it: mkdir -p ./built && " + by + " . > built/all.yaml && kubectl operator preview ./built --format=plain"
	}
	const plugins, onlyBuiltins = "kustomize build --enable-alpha-plugins --enable-exec", "only kustomize's own plugins are used"
	for _, c := range []struct {
		name, text, want string
		more             map[string]string
	}{
		{name: "a remote resource", text: "resources: ['https://example.com/a.yaml']", want: `kustomization.yaml: resources[0]: "https://example.com/a.yaml"` + vendor("https://example.com/a.yaml", "a.yaml", ": it is a file of a web server, which nothing pins")},
		{name: "a remote base", text: "bases: [github.com/org/repo]", want: `kustomization.yaml: bases[0]: "github.com/org/repo"` + pinned("github.com/org/repo", "github.com/org/repo", "https://github.com/org/repo", "HEAD")},
		{name: "a remote base that would be a command of sed", text: `bases: ["github.com/org/repo/a.yaml\ne id"]`,
			want: `kustomization.yaml: bases[0]: "github.com/org/repo/a.yaml\ne id" is remote: reference "git+https://github.com/org/repo//a.yaml\ne id" holds a control character or is not UTF-8`},
		{name: "a base beside a resource", text: "resources: [a.yaml]\nbases: ['git@host:org/repo']", want: `kustomization.yaml: bases[0]: "git@host:org/repo"` + pinned("git@host:org/repo", "git@host:org/repo", "ssh://git@host/org/repo", "HEAD")},
		{name: "a remote component", text: "components: ['ssh://git@host/org/repo?ref=v1']", want: `kustomization.yaml: components[0]: "ssh://git@host/org/repo?ref=v1"` + pinned("ssh://git@host/org/repo?ref=v1", "ssh://git@host/org/repo", "ssh://git@host/org/repo", v1)},
		{name: "a host and a ref", text: "resources: ['host.example/org/repo?ref=v1']", want: `kustomization.yaml: resources[0]: "host.example/org/repo?ref=v1"` + pinned("host.example/org/repo?ref=v1", "host.example/org/repo", "https://host.example/org/repo", v1)},
		{name: "a remote file of a generator", text: "configMapGenerator: [{name: x, files: ['key=http://h/x']}]", want: `kustomization.yaml: configMapGenerator[0].files: "http://h/x"` + vendor("http://h/x", "x", noPin)},
		{name: "a field in other letters", text: "secretGenerator: [{name: x, ENVS: ['http://h/x']}]", want: `kustomization.yaml: secretGenerator[0].envs: "http://h/x"` + vendor("http://h/x", "x", noPin)},
		{name: "a remote patch", text: "patches: [{path: 'http://h/x'}]", want: `kustomization.yaml: patches[0].path: "http://h/x"` + vendor("http://h/x", "x", noPin)},
		{name: "a top-level field in other letters", text: "Resources: ['http://h/x']", want: "kustomization.yaml: Resources is not a field of a kustomization"},
		{name: "charts", text: "helmCharts: [{name: x, repo: 'http://h'}]", want: "kustomization.yaml: helmCharts[0]: " + built("kubectl kustomize --enable-helm", noCharts)},
		{name: "charts, the old way", text: "helmChartInflationGenerator: [{chartName: x}]", want: "kustomization.yaml: helmChartInflationGenerator: " + built("kubectl kustomize --enable-helm", noCharts)},
		{name: "charts, as a plugin", text: "generators: [g.yaml]", more: map[string]string{"g.yaml": "apiVersion: builtin\nkind: HelmChartInflationGenerator\nmetadata: {name: x}\n"},
			want: `kustomization.yaml: generators[0]: HelmChartInflationGenerator "x": ` + built("kubectl kustomize --enable-helm", noCharts)},
		{name: "an exec function", text: "transformers: [f.yaml]", more: map[string]string{"f.yaml": "apiVersion: v1\nkind: Fn\nmetadata:\n  name: x\n  annotations:\n    config.kubernetes.io/function: |\n      exec: {path: ./run.sh}\n"},
			want: `kustomization.yaml: transformers[0]: Fn "x" is a function, a program or container that would be run; ` + built(plugins, onlyBuiltins)},
		{name: "an inline container function", text: "validators:\n- |-\n  apiVersion: v1\n  kind: Fn\n  metadata:\n    name: x\n    annotations:\n      config.kubernetes.io/function: 'container: {image: evil}'\n",
			want: `kustomization.yaml: validators[0]: Fn "x" is a function, a program or container that would be run; ` + built(plugins, onlyBuiltins)},
		{name: "a plugin", text: "generators: [p.yaml]", more: map[string]string{"p.yaml": "apiVersion: someteam.example.com/v1\nkind: Go\nmetadata: {name: x}\n"},
			want: `kustomization.yaml: generators[0]: Go "x" of someteam.example.com/v1 is a plugin, a program that would be run; ` + built(plugins, onlyBuiltins)},
		{name: "a remote file of a built-in plugin", text: "transformers: [p.yaml]", more: map[string]string{"p.yaml": "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: x}\nPath: 'http://h/x'\n"},
			want: `kustomization.yaml: transformers[0].Path: "http://h/x"` + vendor("http://h/x", "x", noPin)},
		{name: "a file above the content", text: "resources: [../a.yaml]", want: `kustomization.yaml: resources[0]: "../a.yaml" lies outside of the content; name a directory that holds both, and this one with --path`},
		{name: "an absolute path", text: "resources: [/etc/passwd]", want: `kustomization.yaml: resources[0]: "/etc/passwd" is an absolute path; only files of the content itself are read`},
		{name: "a file that is not there", text: "resources: [none.yaml]", want: `kustomization.yaml: resources[0]: "none.yaml" does not exist in the content`},
		{name: "a directory without a kustomization", text: "resources: [sub]", more: map[string]string{"sub/a.yaml": configMap}, want: `kustomization.yaml: resources[0]: the directory "sub" has no kustomization; in a copy of it: printf '%s\n' resources: '- "a.yaml"' > ./sub/kustomization.yaml && kubectl operator preview .`},
		{name: "a directory without a kustomization, beside others", text: "resources: [sub]", more: map[string]string{"sub/a.yaml": configMap, "sub/b.yaml/c.yaml": configMap}, want: `kustomization.yaml: resources[0]: the directory "sub" has no kustomization; in a copy of it: printf '%s\n' resources: '- "a.yaml"' > ./sub/kustomization.yaml && kubectl operator preview .`},
		{name: "a file outside of the kustomization", text: "resources: [sub]", more: map[string]string{"sub/kustomization.yaml": "resources: [../a.yaml]"},
			want: `sub/kustomization.yaml: resources[0]: "../a.yaml" lies outside of the directory of its kustomization; kustomize reads only directories from there`},
		{name: "a cycle", text: "resources: [sub]", more: map[string]string{"sub/kustomization.yaml": "resources: [..]"},
			want: `sub/kustomization.yaml: resources[0]: ".." leads back to where it is referred from`},
		{name: "two kustomizations in one place", text: "resources: [a.yaml]", more: map[string]string{"Kustomization": "resources: [a.yaml]"},
			want: "kustomization.yaml and Kustomization are both kustomizations of one directory; keep one; in a copy of it: rm ./Kustomization && kubectl operator preview ."},
		{name: "a version of ours in every object", text: "resources: [a.yaml]\nbuildMetadata: [managedByLabel]",
			want: "kustomization.yaml: buildMetadata: managedByLabel would write the version of this program into every object"},
		{name: "a key twice", text: "resources: [a.yaml]\nresources: []", want: `kustomization.yaml: line 2: key "resources" is set twice`},
		{name: "two documents", text: "resources: [a.yaml]\n---\nresources: []", want: "kustomization.yaml: it has 2 documents; a kustomization is one"},
		{name: "nothing to build", text: "resources: [empty.yaml]", more: map[string]string{"empty.yaml": "# nothing\n"}, want: "building kustomization.yaml: it makes no object"},
		{name: "an object without a kind", text: "resources: [bad.yaml]", more: map[string]string{"bad.yaml": "a: b\n"}, want: "building kustomization.yaml: accumulating resources from 'bad.yaml': missing Resource metadata"},
		{name: "a plain file as a component", text: "components: [a.yaml]", want: `kustomization.yaml: components[0]: "a.yaml" is a file; a component is a directory`},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := map[string]string{"kustomization.yaml": c.text, "a.yaml": configMap}
			for name, text := range c.more {
				files[name] = text
			}
			_, err := render(t, files, "")
			if err == nil {
				t.Fatal("it was built")
			}
			if !strings.Contains(c.want, "kubectl operator preview ") { // what only its author can change
				file, _, _ := strings.Cut(strings.TrimPrefix(c.want, "building "), ":")
				c.want += "; in a copy of it: ${EDITOR:-vi} ./" + file + " && kubectl operator preview ."
			}
			if got := err.Error(); got != c.want {
				t.Errorf("got\n  %s\nwant\n  %s", got, c.want)
			}
			if strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), mount) {
				t.Errorf("not one sentence about the content: %q", err)
			}
		})
	}
}

// Endless expansion costs bounded memory and time.
func TestABombIsRefused(t *testing.T) {
	bomb := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\na: &a [x,x,x,x,x,x,x,x,x,x]\n"
	for i := 'b'; i < 'k'; i++ {
		bomb += string(i) + ": &" + string(i) + " [" + strings.Repeat("*"+string(i-1)+",", 9) + "*" + string(i-1) + "]\n"
	}
	for name, c := range map[string]struct{ kustomization, want string }{
		"as a resource": {"resources: [a.yaml]", "a.yaml: line 5: more than 1000 aliases"},
		"as a patch":    {"patches: [{path: a.yaml}]", "a.yaml: line 5: more than 1000 aliases"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := render(t, map[string]string{"kustomization.yaml": c.kustomization, "a.yaml": bomb}, "")
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got %v, want %s…", err, c.want)
			}
		})
	}
}

func TestRemoteReferencesAreToldFromPaths(t *testing.T) {
	for name, want := range map[string]bool{
		"../base": false, "base": false, "a.yaml": false, "./a/b.c/d": false, "system:controller.yaml": false, "v1.2": false, "github.com-notes": false,
		"https://x/y": true, "HTTP://x": true, " https://x": true, "git::https://x/y": true, "git@github.com:org/repo": true, "github.com/org/repo": true,
		"GitHub.com:org/repo": true, "ssh://git@x/y": true, "file:///etc": true, "x.example/org/repo.git": true, "x/repo.git/sub": true, "x//y": true,
		"org-1@host:repo": true, "x/y?ref=main": true, "dev.azure.com/o/p/_git/r": true, "gitlab.com/org/repo": true,
	} {
		if got := remote(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}
