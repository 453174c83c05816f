package ref

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func appOf(spec string) string {
	return "apiVersion: kappctrl.k14s.io/v1alpha1\nkind: App\nmetadata: {name: web, namespace: shop}\nspec:\n  serviceAccountName: deployer\n  deploy: [{kapp: {}}]\n" + spec
}

func TestAnAppFetchesWhatKappControllerFetches(t *testing.T) {
	const template = "  template: [{ytt: {}}]\n"
	for fetch, want := range map[string]string{
		"{imgpkgBundle: {image: 'registry.example.com/a:v1'}}":                                              "oci://registry.example.com/a:v1",
		"{image: {url: registry.example.com/a, tagSelection: {semver: {constraints: '>=1.0.0 <2.0.0'}}}}":   "oci://registry.example.com/a?version=>=1.0.0 <2.0.0",
		"{http: {url: 'https://example.com/x.tgz', sha256: " + strings.TrimPrefix(digest, "sha256:") + "}}": "https://example.com/x.tgz#sha256=" + strings.TrimPrefix(digest, "sha256:"),
		"{git: {url: 'git@git.example.com:a/b.git', ref: origin/main, subPath: deploy, depth: 1}}":          "git+ssh://git@git.example.com/a/b.git//deploy?ref=main",
		"{helmChart: {name: web, version: 1.x, repository: {url: 'https://charts.example.com/'}}}":          "chart+https://charts.example.com/web?version=1.x",
		"{helmChart: {name: web, version: 1.0.0, repository: {url: 'oci://registry.example.com/charts'}}}":  "oci://registry.example.com/charts/web:1.0.0",
		"{inline: {paths: {a.yml: x}}}": "./",
		"{image: {url: 'registry.example.com/a:v1', secretRef: {name: pull}, subPath: config}, path: base}":                "oci://registry.example.com/a:v1 config -> base shop/pull",
		"{image: {url: 'registry.example.com/a:v1'}}, {image: {url: 'registry.example.com/b:v1'}}":                         "oci://registry.example.com/a:v1 -> 0, oci://registry.example.com/b:v1 -> 1",
		"{inline: {paths: {a.yml: x}}}, {image: {url: 'registry.example.com/b:v1'}}":                                       "oci://registry.example.com/b:v1 -> 1",
		"{inline: {pathsFrom: [{configMapRef: {name: files, directoryPath: d}}]}}, {image: {url: registry.example.com/b}}": "oci://registry.example.com/b:latest -> 1",
	} {
		r := read(t, appOf(template+"  fetch: ["+fetch+"]\n")+"---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: files, namespace: shop}, data: {b.yml: text}}\n", nil)
		var got []string
		for _, s := range r.Sources {
			text := s.Reference.Text
			for _, part := range []struct{ before, text string }{{" ", s.Subdir}, {" -> ", s.Destination}, {" ", s.Secret}} {
				if part.text != "" {
					text += part.before + part.text
				}
			}
			if s.Foreign {
				t.Errorf("%s: its Secret is foreign", fetch)
			}
			got = append(got, text)
		}
		if text := strings.Join(got, ", "); text != want {
			t.Errorf("%s: %s, want %s", fetch, text, want)
		}
		if strings.Contains(fetch, "pathsFrom") && r.Files["0/d/b.yml"] != "text" {
			t.Errorf("files %v", r.Files)
		}
		if r.Release != "web" || r.Namespace != "shop" {
			t.Errorf("%s in %s", r.Release, r.Namespace)
		}
	}
}

func TestAnAppMakesObjectsOfItsManifests(t *testing.T) {
	files := map[string]string{
		"a.yml": "a", "config/b.yaml": "b", "config/more/c.yml": "c", "config/_ytt_lib/l.yml": "l", "README.md": "", "Chart.yaml": "C", ".imgpkg/images.yml": "lock", ".imgpkg/bundle.yml": "",
	}
	for template, want := range map[string]string{
		"[{ytt: {}}]":                 "Chart.yaml a.yml config_b.yaml config_more_c.yml",
		"[{kbld: {}}]":                "Chart.yaml a.yml config_b.yaml config_more_c.yml",
		"[{ytt: {paths: [config]}}]":  "config_b.yaml config_more_c.yml",
		"[{ytt: {paths: [./a.yml]}}]": "a.yml",
		"[{ytt: {}}, {ytt: {}}]":      "Chart.yaml a.yml config_b.yaml config_more_c.yml",
		"[{ytt: {paths: [config]}}, {kbld: {paths: ['-', .imgpkg/images.yml]}}]": ".imgpkg/images.yml config/config_b.yaml config/config_more_c.yml",
	} {
		r := read(t, appOf("  fetch: [{imgpkgBundle: {image: 'registry.example.com/a:v1'}}]\n  template: "+template+"\n"), nil)
		content := fstest.MapFS{}
		for name, text := range files {
			content[name] = &fstest.MapFile{Data: []byte(text)}
		}
		got, err := r.Select(content, "")
		if err != nil {
			t.Fatal(err)
		}
		if names := strings.Join(sortedKeys(got), " "); names != want {
			t.Errorf("%s: %s, want %s", template, names, want)
		}
	}
}

func TestAnAppGivesItsChartValuesInOrder(t *testing.T) {
	r := read(t, appOf(`  defaultNamespace: other
  paused: true
  fetch: [{helmChart: {name: web, repository: {url: 'https://charts.example.com'}}}]
  template: [{helmTemplate: {name: front, namespace: other, valuesFrom: [{path: prod.yaml}, {configMapRef: {name: v}}, {secretRef: {name: s}}]}}]
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: v, namespace: shop}, data: {b: "{a: {x: 2}}", a: "{a: {x: 1, w: 1}}"}}
---
{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: shop}, stringData: {v: "{a: {z: 3}}"}}
`), nil)
	values, _ := r.Values["a"].(map[string]any)
	if got := strings.Join(r.ValuesFiles, ","); got != "prod.yaml" || jsonText(values) != jsonText(map[string]any{"x": 2, "w": 1, "z": 3}) {
		t.Errorf("%s, %s", got, jsonText(r.Values))
	}
	if r.Release != "front" || r.Namespace != "other" || r.Format != "helm" || !r.PlainHooks || !r.SecretValues || r.Paused != "spec.paused" {
		t.Errorf("%+v", r)
	}
}

// A step that is not run is named, and its result never guessed.
func TestWhatAnAppRunsBesidesIsAnError(t *testing.T) {
	const fetch = "  fetch: [{imgpkgBundle: {image: 'registry.example.com/a:v1'}}]\n"
	for spec, want := range map[string]string{
		fetch:                               "spec.template: it is missing",
		"  template: [{ytt: {}}]\n":         "spec.fetch: it is missing",
		fetch + "  template: [{cue: {}}]\n": "spec.template[0]: it is not run here",
		fetch + "  template: [{sops: {pgp: {}}}]\n":                                                                                     "spec.template[0]: it is not run here",
		fetch + "  template: [{ytt: {}}, {helmTemplate: {}}]\n":                                                                         "spec.template[1]: it is not run here",
		fetch + "  template: [{ytt: {inline: {paths: {a: b}}}}]\n":                                                                      "spec.template[0].ytt.inline is not supported",
		fetch + "  template: [{ytt: {valuesFrom: [{path: a}]}}]\n":                                                                      "spec.template[0].ytt.valuesFrom is not supported",
		fetch + "  template: [{ytt: {}}, {ytt: {paths: [config]}}]\n":                                                                   `spec.template[1].ytt.paths: it has no "-"`,
		fetch + "  template: [{helmTemplate: {}}, {ytt: {paths: ['-', overlays]}}]\n":                                                   "spec.template: files outside the chart are not read",
		fetch + "  template: [{helmTemplate: {namespace: far}}]\n":                                                                      "only one namespace for both is read",
		fetch + "  template: [{helmTemplate: {valuesFrom: [{downwardAPI: {items: []}}]}}]\n":                                            "valuesFrom[0]: it is not read",
		fetch + "  template: [{ytt: {}}]\n  cluster: {kubeconfigSecretRef: {name: k}}\n":                                                "spec.cluster is not supported",
		"  fetch: [{git: {url: 'https://git.example.com/a', refSelection: {semver: {}}}}]\n  template: [{ytt: {}}]\n":                   "a range over tags is not supported",
		"  fetch: [{inline: {pathsFrom: [{secretRef: {name: s}}]}}]\n  template: [{ytt: {}}]\n":                                         "files of a Secret are not read",
		"  fetch: [{inline: {paths: {../a.yml: b}}}]\n  template: [{ytt: {}}]\n":                                                        "is not a path within the content",
		"  fetch: [{}]\n  template: [{ytt: {}}]\n":                                                                                      "0 kinds of sources",
		"  fetch: [{image: {url: 'registry.example.com/a:v1'}}]\n  template: [{ytt: {}}, {kbld: {paths: ['-', .imgpkg/images.yml]}}]\n": "none is fetched",
	} {
		_, err := ReadRequest(t.Context(), []byte(appOf(spec)), nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", spec, err, want)
		}
	}
	text := strings.Replace(appOf(fetch+"  template: [{ytt: {}}]\n"), "{kapp: {}}", "{kapp: {mapNs: [a=b]}}", 1)
	if _, err := ReadRequest(t.Context(), []byte(text), nil); err == nil || !strings.Contains(err.Error(), "mapNs is not supported") {
		t.Errorf("%v", err)
	}
}

func sortedKeys(m map[string]string) []string {
	return slices.Sorted(maps.Keys(m))
}
