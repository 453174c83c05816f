package report

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/review/reviewtest"
)

func TestReportsSayWhatTheirReadModeCannotKnow(t *testing.T) {
	forbidden := preview.Unknown{Object: "core/Secret/mongodb/pull", Why: "forbidden"}
	for name, test := range map[string]struct {
		mode      preview.ReadMode
		change    func(p *preview.Plan)
		want, not []string
	}{
		"gets ask nothing of the API server": {preview.ReadGet, func(p *preview.Plan) { p.Summary.Create, p.Summary.Update = 2, 1 },
			[]string{"Read mode get (reads only", "admission", "2 objects to create", "1 object to update", "replaced as a whole", "immutable fields", "before the first write"}, []string{"your rights"}},
		"a plan of creates merges nothing": {preview.ReadGet, func(p *preview.Plan) { p.Summary.Create, p.Summary.Update = 2, 0 },
			[]string{"admission"}, []string{"immutable fields", "to update"}},
		"where nothing changes, nothing is open": {preview.ReadGet, func(p *preview.Plan) { p.Summary.Create, p.Summary.Update = 0, 0 },
			[]string{"was asked and answered"}, []string{"admission"}},
		"offline everything live is open": {preview.ReadOffline, func(*preview.Plan) {},
			[]string{"Read mode offline", "live objects", "your rights", "stored objects"}, []string{"immutable fields"}},
		"a dry run cannot ask about what is not there yet": {preview.ReadDryRun, func(p *preview.Plan) { p.Objects[0].Action, p.Objects[0].Result = preview.ActionCreate, "" },
			[]string{"Read mode server-side dry run", "without a dry run"}, []string{"your rights"}},
		"what was computed is said, and nothing is open": {preview.ReadDryRun, func(p *preview.Plan) {
			p.Objects[0].Action, p.Objects[0].Result = preview.ActionCreate, ""
			p.Computed = &preview.Computed{ByCopy: 2, BySchema: 1}
		}, []string{"Computed, not answered by the API server", "for 2 by the API server", "for 1 by the schema"}, []string{"without a dry run"}},
		"what could not be computed is one sentence": {preview.ReadDryRun, func(p *preview.Plan) {
			p.Objects[0].Action, p.Objects[0].Result = preview.ActionCreate, ""
			p.Computed = &preview.Computed{Open: []string{"whether webhook c accepts Service a", "what webhook d changes in Service a"}}
		}, []string{"open is whether webhook c accepts Service a; what webhook d changes in Service a"}, []string{"Computed, not"}},
		"what may not be read is named": {preview.ReadDryRun, func(p *preview.Plan) { p.Unknowns = append(p.Unknowns, forbidden) },
			[]string{"core/Secret/mongodb/pull", "could not be read: forbidden"}, nil},
		"many are counted": {preview.ReadDryRun, func(p *preview.Plan) {
			for range 20 + 3 {
				p.Unknowns = append(p.Unknowns, forbidden)
			}
		}, []string{"and 3 more"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			p := reviewtest.FreshInstall(t)
			p.ReadMode, p.Unknowns = test.mode, nil
			test.change(p)
			for _, format := range []string{Text, Markdown, HTML} {
				text := write(t, p, Options{Format: format})
				at := strings.Index(strings.ToUpper(text), "WHAT COULD NOT BE KNOWN")
				if at < 0 {
					t.Fatalf("%s: no such section", format)
				}
				part := strings.Join(strings.Fields(text[at:]), " ")
				if end := strings.Index(text[at:], "sha256:"); end > 0 {
					part = strings.Join(strings.Fields(text[at:at+end]), " ")
				}
				for _, want := range test.want {
					if !strings.Contains(part, want) {
						t.Errorf("%s lacks %q:\n%s", format, want, part)
					}
				}
				for _, not := range test.not {
					if strings.Contains(part, not) {
						t.Errorf("%s says %q:\n%s", format, not, part)
					}
				}
			}
		})
	}
}
