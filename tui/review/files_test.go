package review

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/tui/tabs"
	"github.com/kubectl-operator/kubectl-operator/tui/tuitest"
)

// setPlan is of a plugin set: every kind of change of a file, of its config,
// and a second platform.
func setPlan(t *testing.T) *preview.Plan {
	t.Helper()
	sum := func(s string) string { return strings.TrimPrefix(tuitest.DigestOf(s), "sha256:") }
	b := tuitest.NewPlan(t, preview.RequestInstall)
	p := b.Plan
	p.Request = preview.Request{Action: preview.RequestInstall, File: "plugin_config.yaml"}
	p.Release, p.ReadMode, p.Target = preview.Release{Name: "optimus"}, preview.ReadOffline, preview.Target{}
	p.Platform, p.Location = "linux/amd64", &preview.Location{Path: "/srv/optimus/.plugins", Host: "0123456789abcdef"}
	p.Generation = &preview.Generation{From: 3, To: 4}
	p.Images = []preview.Image{{Reference: "docker.io/org/neo:2", Digest: tuitest.DigestOf("neo:2"), UsedBy: []string{"file/optimus-plugin-neo.yaml"}}}
	p.Packages = []preview.Package{{
		Name: "optimus", Version: "1.2.0", Bundle: "optimus", Format: "plugins/optimus", ContentDigest: tuitest.DigestOf("content"),
		Sources: []preview.Source{
			{Kind: "image", Reference: "oci://registry.example.com/neo:2", Digest: tuitest.DigestOf("neo"), Verification: &preview.Verification{Status: "verified", Identity: "release@example.com"}},
			{Kind: "archive", Reference: "https://example.com/trinity.tgz", Digest: tuitest.DigestOf("trinity"), Verification: &preview.Verification{Status: "unverified"}},
		},
		Verification: preview.Verification{Status: "unverified"},
	}}
	p.ConfigChanges = []preview.Change{
		{Path: ".plugins.neo.executorImage", Op: "change", From: "docker.io/org/neo:1", To: "docker.io/org/neo:2"},
		{Path: ".plugins.neo.password", Op: "add", To: preview.Masked},
	}
	p.Platforms = []preview.PlatformContent{{Platform: "linux/amd64", ContentDigest: tuitest.DigestOf("5")}, {
		Platform: "linux/arm64", ContentDigest: tuitest.DigestOf("6"),
		Files: []preview.PlatformFile{{Path: "trinity", Mode: "0755", Size: 4096, SHA256: sum("7"), Contents: "ELF linux/arm64; go1.26.0"}},
	}}
	live := func(s, mode string) preview.LiveFile { return preview.LiveFile{SHA256: sum(s), Mode: mode} }
	p.Files = []preview.File{
		{Path: "gone.sh", Action: preview.ActionDelete, Live: live("gone", "0755")},
		{Path: "new.sh", Action: preview.ActionCreate, Mode: "0755", Size: 20, SHA256: sum("new"), Origin: "https://example.com/new.sh", Contents: "script for /bin/sh",
			Changes: []preview.Change{{Path: "lines 1-2", Op: "add", To: "#!/bin/sh\nexec neo\n"}}},
		{Path: "optimus-plugin-neo.yaml", Action: preview.ActionUpdate, Mode: "0644", Size: 200, SHA256: sum("neo2"), Origin: "oci://registry.example.com/neo:2 optimus-plugin-neo.yaml",
			Contents: "Optimus task neo 2.0.0, image docker.io/org/neo:2, 1 question, 0 defaults", Live: live("neo1", "0644"),
			Changes: []preview.Change{{Path: ".image", Op: "change", From: "docker.io/org/neo:1", To: "docker.io/org/neo:2"}, {Path: ".questions[name=MODE].prompt", Op: "add", To: "Which mode?"}}},
		{Path: "run.sh", Action: preview.ActionUpdate, Mode: "4755", Size: 30, SHA256: sum("run2"), Origin: "https://example.com/run.sh", Contents: "script for /bin/sh", Live: live("run1", "0644"),
			Changes: []preview.Change{{Path: "lines 1-3", Op: "change", From: "#!/bin/sh\nset -e\nold | sh\n", To: "#!/bin/sh\nset -e\nnew | sh\n"}}},
		{Path: "same", Action: preview.ActionUnchanged, Mode: "0644", Size: 1, SHA256: sum("same"), Contents: "text", Live: live("same", "0644")},
		{Path: "trinity", Action: preview.ActionUpdate, Mode: "0755", Size: 4096, SHA256: sum("trinity2"), Origin: "https://example.com/trinity.tgz trinity",
			Contents: "ELF linux/amd64; go1.26.0, example.com/trinity v1.1.0, 2 modules", Live: live("trinity1", "0755"),
			Changes: []preview.Change{{Path: ".build.dependencies['example.com/x']", Op: "change", From: "v1.0.0", To: "v1.0.1"}, {Path: ".build.version", Op: "change", From: "v1.0.0", To: "v1.1.0"}}},
	}
	b.Finding(preview.Critical, "plugin-setuid", "", "file/run.sh", "file run.sh: mode 4755: it runs with the rights of its owner or group, for every user who starts it",
		"A program with that bit is a way to its owner's rights.", "file/run.sh: mode 4755")
	b.Finding(preview.Warning, "plugin-image-by-tag", "", "file/optimus-plugin-neo.yaml", "file optimus-plugin-neo.yaml: image docker.io/org/neo:2 is named by tag",
		"The tag can move after this review.", "file/optimus-plugin-neo.yaml: image docker.io/org/neo:2 is named by tag")
	b.Finding(preview.Warning, "plugin-unpinned", "", "plugin/trinity", "plugin trinity: nothing says which bytes it has to be", "The bytes can be others tomorrow.", "plugin/trinity")
	return b.Seal()
}

func TestScreensOfAPluginSetLookAsRecorded(t *testing.T) {
	p := setPlan(t)
	for name, keys := range map[string][]any{
		"summary":         nil,
		"findings":        {"2", "enter"},
		"files":           {"3"},
		"files-config":    {"3", "down", "enter"},
		"files-script":    {"3", "/", "r", "u", "n", ".", "s", "h", "enter", "esc", "enter"},
		"files-plugin":    {"3", "/", "n", "e", "o", ".", "y", "enter", "esc", "enter"},
		"files-diff":      {"3", "/", "r", "u", "n", ".", "s", "h", "enter", "esc", "d"},
		"files-beside":    {"3", "/", "r", "u", "n", ".", "s", "h", "enter", "esc", "d", "s"},
		"files-fields":    {"3", "/", "n", "e", "o", ".", "y", "enter", "esc", "d"},
		"files-program":   {"3", "/", "t", "r", "i", "n", "enter", "esc", "enter"},
		"files-platform":  {"3", "end", "enter"},
		"source":          {"4"},
		"confirm":         {"n", "n", "n", "a"},
		"confirm-digests": {"n", "n", "n", "a", "tab"},
	} {
		for _, size := range tuitest.Sizes {
			frame := fmt.Sprintf("set-%s/%dx%d/optimus", name, size[0], size[1])
			t.Run(frame, func(t *testing.T) {
				m, c := reviewOf(t, p, size[0], size[1])
				tuitest.Drive(m, c, keys...)
				golden(t, frame, m, size[0], size[1])
			})
		}
	}
}

func TestPlainReviewOfAPluginSetReadsAsRecorded(t *testing.T) {
	outcome, said, err := plainly(t, setPlan(t), "1\n\na\noptimus\n", nil)
	if err != nil || outcome.Kind != Approved {
		t.Fatalf("outcome %v, %v\n%s", outcome.Kind, err, said)
	}
	tuitest.Compare(t, "plain/optimus", said)
	if strings.Contains(said, "cluster") {
		t.Error("a set of files has no cluster, and one is spoken of")
	}
}

// Tabs are those the plan has something for; digits and tab go through them.
func TestAPlanHasTheTabsItNeeds(t *testing.T) {
	m, c := reviewOf(t, setPlan(t), 120, 36)
	for key, want := range map[string]tabs.Tab{"1": tabs.Summary, "2": tabs.Findings, "3": tabs.Files, "4": tabs.Source, "5": tabs.Source, "7": tabs.Source} {
		tuitest.Drive(m, c, "4", key)
		if m.tab != want {
			t.Errorf("%s opens tab %d, want %d", key, m.tab, want)
		}
	}
	tuitest.Drive(m, c, "1")
	var seen []tabs.Tab
	for range 4 {
		seen = append(seen, m.tab)
		tuitest.Drive(m, c, "shift+tab")
	}
	if fmt.Sprint(seen) != fmt.Sprint([]tabs.Tab{tabs.Summary, tabs.Source, tabs.Files, tabs.Findings}) {
		t.Errorf("shift+tab goes through %v", seen)
	}
	both := setPlan(t)
	both.Objects = tuitest.FreshPlan(t).Objects
	m, c = reviewOf(t, both, 120, 36)
	tuitest.Drive(m, c, "7")
	if m.tab != tabs.Source || len(m.ShownTabs()) != 7 {
		t.Errorf("a plan of files and objects has %d tabs", len(m.ShownTabs()))
	}
	m, c = reviewOf(t, tuitest.FreshPlan(t), 120, 36)
	tuitest.Drive(m, c, "7")
	if m.tab != tabs.Summary {
		t.Error("a plan without files has a tab for them")
	}
}
