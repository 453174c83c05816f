package plugins

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
)

// One plan for all platforms has one content digest, the same on each of them.
func TestOnePlanCoversAllPlatforms(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "amd"), "#!/bin/sh\necho amd\n")
	put(t, filepath.Join(dir, "arm"), "#!/bin/sh\necho arm\n")
	config := own(`{output: neo, config: {image: "docker.io/org/neo:1"}, platforms: [{platform: linux/amd64, reference: ./amd}, {platform: darwin/arm64, reference: ./arm}]}`)
	plan := func(own string) *preview.Plan {
		t.Helper()
		var set *Set
		var others []PlatformSet
		var mine []FetchedPlugin
		for _, platform := range []string{"linux/amd64", "darwin/arm64"} {
			read, got, err := fetched(t, dir, config, Request{Platform: platform})
			if err != nil {
				t.Fatal(err)
			}
			if set = read; platform == own {
				mine = got
			} else {
				others = append(others, PlatformSet{platform, got})
			}
		}
		if text := strings.Join(set.Platforms(nil, own), " "); text != "darwin/arm64 linux/amd64" {
			t.Errorf("the set is for %s", text)
		}
		p, err := Plan(set, mine, Target{Platform: own, Location: preview.Location{Path: "/opt/" + own, Host: "h"}})
		if err == nil {
			err = AddPlatforms(p, set, others)
		}
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	amd, arm := plan("linux/amd64"), plan("darwin/arm64")
	digest := amd.Packages[0].ContentDigest
	switch {
	case digest != arm.Packages[0].ContentDigest:
		t.Error("the content is another on another platform")
	case len(amd.Platforms) != 2 || len(amd.Platforms[0].Files) != 1 || len(amd.Platforms[1].Files) != 0:
		t.Errorf("platforms %+v", amd.Platforms)
	case amd.Files[0].SHA256 != arm.Platforms[1].Files[0].SHA256:
		t.Error("what is written on linux/amd64 is not what the other plan says of it")
	}
	var notes []string
	for _, n := range amd.Packages[0].Notes {
		notes = append(notes, n.Rule+" "+n.Object)
	}
	if text := strings.Join(notes, ", "); text != "plugin-image-by-tag plugin/neo, plugin-unpinned plugin/neo, plugin-unpinned plugin/neo@darwin/arm64" {
		t.Errorf("notes: %s", text)
	}
	put(t, filepath.Join(dir, "arm"), "#!/bin/sh\necho other\n")
	if again := plan("linux/amd64"); again.Packages[0].ContentDigest == digest {
		t.Error("another file on another platform is the same content")
	}
}

// A set compared with another config, as if that were installed.
func TestASetIsComparedWithAnother(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "old"), "#!/bin/sh\nold\n")
	put(t, filepath.Join(dir, "new"), "#!/bin/sh\nnew\n")
	older, before, err := fetched(t, dir, own(`{output: neo, reference: ./old, config: {mode: half}}`, `{output: gone, reference: ./old}`), Request{})
	if err != nil {
		t.Fatal(err)
	}
	was, err := AsInstalled(older, before, "linux/amd64")
	if err != nil {
		t.Fatal(err)
	}
	set, got, err := fetched(t, dir, own(`{output: neo, reference: ./new, config: {mode: full}}`), Request{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := Plan(set, got, Target{Platform: "linux/amd64", InstalledFiles: was})
	if err != nil {
		t.Fatal(err)
	}
	if text := actions(p); text != "gone delete, neo update; 1 -> 2" {
		t.Errorf("files: %s", text)
	}
	text := changeText(p.ConfigChanges)
	for _, part := range []string{`.plugins.neo.mode change "half" "full"`, `.artifacts.neo.reference change "./old" "./new"`, `.artifacts.gone.reference remove`} {
		if !strings.Contains(text, part) {
			t.Errorf("the config does not say %s: %s", part, text)
		}
	}
	if text := changeText(p.Files[1].Changes); text != `lines 1-2 change "#!/bin/sh\nold\n" "#!/bin/sh\nnew\n"` {
		t.Errorf("changes %s", text)
	}
}

// A config that was fetched reads no file of this machine and sends none of its
// variables to anybody, but those it is allowed.
func TestAFetchedConfigCannotTakeFromThisMachine(t *testing.T) {
	for _, test := range []struct{ name, plugin, want string }{
		{"a file", `{output: a, reference: ./passwd}`, "names the local file ./passwd"},
		{"a file by its whole path", `{output: a, reference: /etc/passwd}`, "names the local file /etc/passwd"},
		{"a secret from a file", `{output: a, reference: "https://example.com/a.tar", auth: {bearer: {file: /etc/passwd}}}`, "may not send a file of this machine, /etc/passwd"},
		{"a variable", `{output: a, reference: "https://example.com/a.tar", auth: {bearer: {env: AWS_SECRET_ACCESS_KEY}}}`, "may not send the environment variable AWS_SECRET_ACCESS_KEY"},
		{"a variable that it may", `{output: a, reference: "https://example.com/a.tar", auth: {bearer: {env: TOKEN}}}`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Parse([]byte(own(test.plugin)), Options{Fetched: true, Env: []string{"TOKEN"}})
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
	for name, config := range map[string]string{
		"a provider of files": "providers: [{type: file, name: here, path: /etc}]\nplugins: [{provider: here, output: a, path: passwd}]",
		"go-getter":           "plugin: {artifacts: [/etc/passwd]}",
		"piped":               "apiVersion: pipecd.dev/v1beta1\nkind: Piped\nspec: {plugins: [{name: a, url: \"file:///etc/passwd\"}]}",
	} {
		if _, err := Parse([]byte(config), Options{Fetched: true}); err == nil || !strings.Contains(err.Error(), "names the local file") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Anyone who checks signatures is asked before an artifact is read, with the detached
// one that the config names; a set is signed when all of it is.
func TestSignaturesAreAskedForBeforeAnArtifactIsRead(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "neo"), "neo\n")
	put(t, filepath.Join(dir, "neo.sigstore.json"), `{"the": "bundle"}`)
	var asked []string
	check := func(_ context.Context, _ *source.Fetcher, pin source.Pin, bundle []byte) (SignerInfo, error) {
		asked = append(asked, pin.Source.Reference+" "+string(bundle))
		if bundle == nil {
			return SignerInfo{Verification: preview.Verification{Status: "unverified"}, Rule: rules.SignatureMissing, Text: "it carries no signature"}, nil
		}
		return SignerInfo{Verification: preview.Verification{Status: "verified", Identity: "me"}}, nil
	}
	set, got, err := fetched(t, dir, own(`{output: a, reference: ./neo, signature: ./neo.sigstore.json}`, `{output: b, reference: ./neo}`), Request{Check: check})
	if err != nil {
		t.Fatal(err)
	}
	if text := strings.Join(asked, ", "); text != `./neo {"the": "bundle"}, ./neo ` {
		t.Errorf("asked %s", text)
	}
	p, err := Plan(set, got, Target{Platform: "linux/amd64"})
	if err != nil {
		t.Fatal(err)
	}
	pkg := p.Packages[0]
	if pkg.Verification.Status != "unverified" || pkg.Sources[0].Verification.Identity != "me" || pkg.Notes[0].Rule != "plugin-unpinned" && pkg.Notes[0].Rule != "signature-missing" {
		t.Errorf("package %+v", pkg)
	}
	refused := func(context.Context, *source.Fetcher, source.Pin, []byte) (SignerInfo, error) {
		return SignerInfo{}, errors.New("no signature by whom you trust")
	}
	if _, _, err := fetched(t, dir, own(`{output: a, reference: ./neo}`), Request{Check: refused}); err == nil || !strings.HasPrefix(err.Error(), "plugin a: no signature") {
		t.Errorf("refused: %v", err)
	}
	if _, _, err := fetched(t, dir, own(`{output: a, reference: ./neo, signature: ./none}`), Request{Check: check}); err == nil || !strings.HasPrefix(err.Error(), "plugin a: its signature: ") {
		t.Errorf("a signature that is not there: %v", err)
	}
}
