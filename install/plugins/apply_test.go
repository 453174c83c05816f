package plugins

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/plugins"
)

func hexSum(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// wantRefusal wants an error of a kind whose text holds a part.
func wantError(t *testing.T, err error, kind install.Kind, part string) {
	t.Helper()
	if err == nil || install.KindOf(err) != kind || !strings.Contains(err.Error(), part) {
		t.Errorf("kind %d, %v; want kind %d and %q", install.KindOf(err), err, kind, part)
	}
}

func mustPlan(t *testing.T, location string, files []plugins.File) *preview.Plan {
	t.Helper()
	plan, err := planInstall(t.Context(), location, files)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// A change since the review, a missing approval and different bytes are refused, and the
// host keeps its files.
func TestWhatWasNotReviewedIsNotInstalled(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(t *testing.T, location string, plan *preview.Plan, o *Options, a *record.Approval)
		kind   install.Kind
		want   string
	}{
		{"a file that somebody changed meanwhile", func(t *testing.T, location string, _ *preview.Plan, _ *Options, _ *record.Approval) {
			write(t, filepath.Join(location, "bin", "neo"), "by hand", 0o755)
		}, install.Refused, "bin/neo is changed"},
		{"a mode that somebody changed meanwhile", func(t *testing.T, location string, _ *preview.Plan, _ *Options, _ *record.Approval) {
			write(t, filepath.Join(location, "gone"), "three", 0o644)
		}, install.Refused, "gone has mode 0644, was 0600"},
		{"a file that came meanwhile", func(t *testing.T, location string, _ *preview.Plan, _ *Options, _ *record.Approval) {
			write(t, filepath.Join(location, "more"), "x", 0o644)
		}, install.Refused, "more is extra"},
		{"another generation that came meanwhile", func(t *testing.T, location string, _ *preview.Plan, _ *Options, _ *record.Approval) {
			mustInstall(t, location, secondFiles())
		}, install.Refused, "generation 2 is installed now, and 1 was when it was reviewed"},
		{"another digest", func(_ *testing.T, _ string, _ *preview.Plan, _ *Options, a *record.Approval) {
			a.Digest = "sha256:" + strings.Repeat("0a", 32)
		}, install.Refused, "approved was sha256:0a0a"},
		{"a file that goes, by the content alone", func(_ *testing.T, _ string, p *preview.Plan, _ *Options, a *record.Approval) {
			a.How, a.Digest = record.ApprovedByContent, p.ContentDigest
		}, install.Refused, "removing file gone needs approval of the plan digest, not of the content digest"},
		{"a critical finding that nobody accepted", func(_ *testing.T, _ string, p *preview.Plan, _ *Options, a *record.Approval) {
			p.Findings = append(p.Findings, preview.Finding{ID: "plugin-setuid/file/bin/morpheus", Severity: preview.Critical, Object: "file/bin/morpheus"})
			a.Ruleset = 0
		}, install.Refused, "critical finding plugin-setuid/file/bin/morpheus"},
		{"a plan for another host", func(t *testing.T, _ string, p *preview.Plan, _ *Options, a *record.Approval) {
			p.Location.Host = "another"
			if err := p.Seal(); err != nil {
				t.Fatal(err)
			}
			a.Digest = p.Digest
		}, install.Refused, "the plan is for host another"},
		{"a plan that expired", func(t *testing.T, _ string, p *preview.Plan, _ *Options, a *record.Approval) {
			p.Options.Expires = preview.ExpiryText(time.Now().Add(-time.Hour))
			if err := p.Seal(); err != nil {
				t.Fatal(err)
			}
			a.Digest = p.Digest
		}, install.Refused, "expired"},
		{"a fact that was changed after the approval", func(_ *testing.T, _ string, p *preview.Plan, _ *Options, _ *record.Approval) {
			p.Files[0].SHA256 = hexSum("evil")
		}, install.Refused, "do not hash to its contentDigest"},
		{"other bytes", func(_ *testing.T, _ string, _ *preview.Plan, o *Options, _ *record.Approval) {
			o.Files[0].Data = []byte("evil")
		}, install.NotStarted, "file bin/morpheus: its bytes are not those that were reviewed"},
		{"bytes that are missing", func(_ *testing.T, _ string, _ *preview.Plan, o *Options, _ *record.Approval) {
			o.Files = o.Files[1:]
		}, install.NotStarted, "file bin/morpheus: its bytes are in no generation and no download"},
		{"a folder of the generations that is a link", func(t *testing.T, location string, _ *preview.Plan, _ *Options, _ *record.Approval) {
			if err := os.Rename(location+generationsSuffix, location+".elsewhere"); err != nil {
				t.Fatal(err)
			}
			link(t, filepath.Base(location)+".elsewhere", location+generationsSuffix)
		}, install.NotStarted, "is not a plain directory"},
	} {
		t.Run(test.name, func(t *testing.T) {
			location := filepath.Join(t.TempDir(), ".plugins")
			mustInstall(t, location, firstFiles())
			files := secondFiles()
			plan := mustPlan(t, location, files)
			o, approval := installOptions(plan, files, nil), record.Approval{Digest: plan.Digest, How: record.ApprovedByDigest, Ruleset: preview.Ruleset}
			test.change(t, location, plan, &o, &approval)
			before := content(t, location)
			receipt, err := Apply(t.Context(), plan, approval, o)
			wantError(t, err, test.kind, test.want)
			if receipt != nil || !maps.Equal(content(t, location), before) {
				t.Errorf("the host finds %v; receipt %v", content(t, location), receipt)
			}
			noLeftovers(t, location, "refused")
		})
	}
}

// A path that leads out cannot be planned; one that was put into a plan by force
// is not written.
func TestAPathThatLeadsOutIsNotWritten(t *testing.T) {
	for _, path := range []string{"../out", "a/../../out", "/out", "a//b", `a\..\out`} {
		dir := t.TempDir()
		location := filepath.Join(dir, ".plugins")
		files := []plugins.File{file(path, "0644", "x")}
		err := installFiles(t.Context(), location, files, nil)
		wantError(t, err, install.NotStarted, "is not a ")
		if _, err := os.Lstat(filepath.Join(dir, "out")); err == nil {
			t.Errorf("%s was written", path)
		}
	}
}

// A link among the files of an earlier generation is not followed, and says so.
func TestALinkInAnEarlierGenerationIsNotFollowed(t *testing.T) {
	location := filepath.Join(t.TempDir(), ".plugins")
	mustInstall(t, location, firstFiles())
	mustInstall(t, location, secondFiles())
	gone := filepath.Join(filesPath(location, 1), "gone")
	if err := os.Remove(gone); err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(t.TempDir(), "outside")
	write(t, outside, "three", 0o600)
	link(t, outside, gone)
	_, err := PlanRollback(t.Context(), location, 1)
	wantError(t, err, install.NotStarted, `reading its files: "gone" is not a regular file`)
	_, err = PlanClean(t.Context(), location, 0)
	wantError(t, err, install.NotStarted, `reading generation 1: "files/gone" is not a regular file`)
	generations, err := List(t.Context(), location)
	if err != nil || len(generations) != 2 || !strings.Contains(generations[1].Problem, `"gone" is not a regular file`) {
		t.Errorf("%+v, %v", generations, err)
	}
}

// One run at a time: the second is told who is at it, and what it then finds is
// not what it was reviewed on.
func TestTwoInstallsAtOnceAreOneAfterTheOther(t *testing.T) {
	location := filepath.Join(t.TempDir(), ".plugins")
	mustInstall(t, location, firstFiles())
	second, third := mustPlan(t, location, secondFiles()), mustPlan(t, location, []plugins.File{file("other", "0644", "x")})
	inside, goOn := make(chan struct{}), make(chan struct{})
	var once sync.Once
	var group sync.WaitGroup
	var secondErr error
	group.Go(func() {
		o := installOptions(second, secondFiles(), func(string) { once.Do(func() { close(inside); <-goOn }) })
		secondErr = applyPlan(context.WithoutCancel(t.Context()), second, o)
	})
	<-inside
	files := []plugins.File{file("other", "0644", "x")}
	err := applyPlan(t.Context(), third, installOptions(third, files, nil))
	wantError(t, err, install.NotStarted, "test since ")
	wantError(t, err, install.NotStarted, "is changing "+location+" now")
	close(goOn)
	group.Wait()
	if secondErr != nil {
		t.Fatal(secondErr)
	}
	err = applyPlan(t.Context(), third, installOptions(third, files, nil))
	wantError(t, err, install.Refused, "generation 2 is installed now")
	if got := content(t, location); !maps.Equal(got, contentOf(secondFiles())) {
		t.Errorf("the host finds %v", got)
	}
}

// Many processes with one plan: one of them installs it.
func TestOfManyRacersOneInstalls(t *testing.T) {
	location := filepath.Join(t.TempDir(), ".plugins")
	var group sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		plan := mustPlan(t, location, firstFiles())
		group.Go(func() { errs[i] = applyPlan(t.Context(), plan, installOptions(plan, firstFiles(), nil)) })
	}
	group.Wait()
	done := 0
	for _, err := range errs {
		if err == nil {
			done++
		} else if kind := install.KindOf(err); kind != install.NotStarted && kind != install.Refused {
			t.Errorf("a racer ended with %v", err)
		}
	}
	if done != 1 || !maps.Equal(content(t, location), contentOf(firstFiles())) {
		t.Errorf("%d installed it", done)
	}
	noLeftovers(t, location, "racing")
	asReceived(t, location, "racing")
}

// Stopped before the switch nothing changed, and nothing is left.
func TestStoppedBeforeTheSwitch(t *testing.T) {
	location := filepath.Join(t.TempDir(), ".plugins")
	mustInstall(t, location, firstFiles())
	plan := mustPlan(t, location, secondFiles())
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	err := applyPlan(ctx, plan, installOptions(plan, secondFiles(), func(what string) {
		if strings.HasPrefix(what, "write") {
			stop()
		}
	}))
	wantError(t, err, install.Declined, "stopped before anything was changed")
	if got := content(t, location); !maps.Equal(got, contentOf(firstFiles())) {
		t.Errorf("the host finds %v", got)
	}
	noLeftovers(t, location, "stopped")
	asReceived(t, location, "stopped")
}

// The digest that was approved goes on where a killed run stopped: before the
// switch by doing it all, after it by saying so.
func TestTheSameDigestGoesOnWhereAKilledRunStopped(t *testing.T) {
	for _, test := range []struct {
		name, diesBefore string
		after            bool // the switch
	}{{"before the switch", "rename .plugins.generations/.next to .plugins", false}, {"after the switch", "sync .", true}} {
		t.Run(test.name, func(t *testing.T) {
			location := filepath.Join(t.TempDir(), ".plugins")
			mustInstall(t, location, firstFiles())
			plan := mustPlan(t, location, secondFiles())
			killed(t, location, "install", test.diesBefore)
			o := installOptions(plan, secondFiles(), nil)
			resumed, err := Resume(t.Context(), plan, plan.Digest, o)
			if err != nil || (resumed != nil) != test.after {
				t.Fatalf("%v, %v", resumed, err)
			}
			if !test.after {
				if err := applyPlan(t.Context(), plan, o); err != nil {
					t.Fatal(err)
				}
			}
			if got := content(t, location); !maps.Equal(got, contentOf(secondFiles())) {
				t.Errorf("the host finds %v", got)
			}
			noLeftovers(t, location, test.diesBefore)
			asReceived(t, location, test.diesBefore)
			_, err = Resume(t.Context(), plan, plan.Digest, o)
			wantError(t, err, install.Refused, "already applied: generation 2")
		})
	}
}

// killed carries out a child's work until it dies before a change of the disk.
func killed(t *testing.T, location, work, before string) {
	t.Helper()
	for at := 1; ; at++ {
		died, code := runChild(t, location, work, at)
		if code == 0 {
			t.Fatal("it never came there")
		}
		if died == before {
			return
		}
	}
}

// A receipt names the approved content and the approver; a forged one is seen.
func TestAReceiptSaysWhatWasApproved(t *testing.T) {
	location := filepath.Join(t.TempDir(), ".plugins")
	plan := mustPlan(t, location, firstFiles())
	if err := applyPlan(t.Context(), plan, installOptions(plan, firstFiles(), nil)); err != nil {
		t.Fatal(err)
	}
	r, err := ReadReceipt(location, 1)
	if err != nil || r.Digest != plan.Digest || r.ContentDigest != plan.ContentDigest || r.Approval.By != "test" || r.State != StateInstalled || r.Finished.IsZero() || len(r.Files) != 3 {
		t.Errorf("%+v, %v", r, err)
	}
	for name, text := range map[string]string{"not JSON": "{", "of another generation": `{"apiVersion":"kubectl-operator/v1alpha1","kind":"PluginReceipt","generation":7}`} {
		write(t, filepath.Join(location+generationsSuffix, "1", receiptFile), text, 0o644)
		if _, err := ReadReceipt(location, 1); err == nil {
			t.Errorf("%s: it was read", name)
		}
		generations, err := List(t.Context(), location)
		if err != nil || generations[0].Problem == "" {
			t.Errorf("%s: %+v, %v", name, generations, err)
		}
	}
	if err := os.Remove(filepath.Join(location+generationsSuffix, "1", receiptFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := PlanClean(t.Context(), location, 0); err == nil || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}
