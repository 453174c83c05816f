package plugins

import (
	"maps"
	"path/filepath"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/plugins"
)

// fourGenerations are at a location, with the plan to remove all but the last.
func fourGenerations(t *testing.T) (location string, plan *preview.Plan) {
	t.Helper()
	location = filepath.Join(t.TempDir(), ".plugins")
	for _, files := range [][]plugins.File{firstFiles(), secondFiles(), firstFiles(), secondFiles()} {
		mustInstall(t, location, files)
	}
	plan, err := PlanClean(t.Context(), location, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := plan.Seal(); err != nil {
		t.Fatal(err)
	}
	return location, plan
}

func approvedDigest(plan *preview.Plan) record.Approval {
	return record.Approval{Digest: plan.Digest, How: record.ApprovedByDigest, By: "test", Ruleset: preview.Ruleset}
}

// killedClean is a location where a clean died before a change of the disk, the
// last of that name.
func killedClean(t *testing.T, before string) (location string, plan *preview.Plan) {
	t.Helper()
	at, n := 0, 0
	_, trial := fourGenerations(t)
	_, err := Apply(t.Context(), trial, approvedDigest(trial), Options{Holder: "test", Step: func(what string) {
		if n++; what == before {
			at = n
		}
	}})
	if err != nil || at == 0 {
		t.Fatalf("it never came to %q: %v", before, err)
	}
	location, plan = fourGenerations(t)
	if died, code := runChild(t, location, "clean", at); code != -1 || died != before {
		t.Fatalf("it died before %q, exit %d", died, code)
	}
	return location, plan
}

// The plan or the digest of a clean that was killed goes on with what is left.
func TestAKilledCleanGoesOn(t *testing.T) {
	byPlan := func(t *testing.T, _ string, plan *preview.Plan) (*Receipt, error) {
		return Apply(t.Context(), plan, approvedDigest(plan), Options{Holder: "test"})
	}
	byDigest := func(t *testing.T, location string, plan *preview.Plan) (*Receipt, error) {
		rest, err := PlanClean(t.Context(), location, 0)
		if err != nil || rest.Seal() != nil || rest.Digest == plan.Digest {
			t.Fatalf("the rest is %v, %v", rest, err)
		}
		return Resume(t.Context(), rest, plan.Digest, Options{Holder: "test"})
	}
	const midway, last = "rename .plugins.generations/2 to .plugins.generations/.old-2", "rename .plugins.generations/.temp to .plugins.generations/clean.json"
	for _, test := range []struct {
		name, before string
		goOn         func(t *testing.T, location string, plan *preview.Plan) (*Receipt, error)
	}{
		{"by its plan", midway, byPlan},
		{"by its digest", midway, byDigest},
		{"by its plan, when only the receipt was left to write", last, byPlan},
		{"by its digest, when only the receipt was left to write", last, byDigest},
	} {
		t.Run(test.name, func(t *testing.T) {
			location, plan := killedClean(t, test.before)
			receipt, err := test.goOn(t, location, plan)
			if err != nil || receipt == nil || receipt.State != StateCleaned || len(receipt.RemovedGenerations()) != 3 || receipt.Digest != plan.Digest {
				t.Fatalf("receipt %+v, %v", receipt, err)
			}
			if all, err := generationsOnDisk(location); err != nil || len(all) != 1 || all[0] != 4 || hasLeftovers(location) {
				t.Errorf("generations %v are left, %v", all, err)
			}
			if got := content(t, location); !maps.Equal(got, contentOf(secondFiles())) {
				t.Errorf("the host finds %v", got)
			}
			_, err = Resume(t.Context(), plan, plan.Digest, Options{Holder: "test"})
			wantError(t, err, install.Refused, "already applied: the last clean")
			_, err = Apply(t.Context(), plan, approvedDigest(plan), Options{Holder: "test"})
			wantError(t, err, install.Refused, "already applied: the last clean")
		})
	}
}

// A clean that was killed does not go on where the rest is not as it was
// reviewed.
func TestAKilledCleanDoesNotGoOnWith(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, location string) string{
		"a file that was changed": func(t *testing.T, location string) string {
			write(t, filepath.Join(location+generationsSuffix, "3", "files", "bin", "neo"), "by hand", 0o755)
			return "3/files/bin/neo is changed"
		},
		"another generation": func(t *testing.T, location string) string {
			mustInstall(t, location, firstFiles())
			return "generation 5 is installed now, and 4 was when it was reviewed"
		},
	} {
		t.Run(name, func(t *testing.T) {
			location, plan := killedClean(t, "rename .plugins.generations/2 to .plugins.generations/.old-2")
			want := change(t, location)
			_, err := Resume(t.Context(), plan, plan.Digest, Options{Holder: "test"})
			wantError(t, err, install.Refused, want)
			_, err = Apply(t.Context(), plan, approvedDigest(plan), Options{Holder: "test"})
			wantError(t, err, install.Refused, want)
			if all, err := generationsOnDisk(location); err != nil || len(all) < 3 || all[0] != 2 {
				t.Errorf("generations %v are left, %v", all, err)
			}
		})
	}
}
