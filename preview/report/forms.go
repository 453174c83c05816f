package report

import (
	"io"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Scope is which plans an output form can show: any, those of one release, or those of
// one release whose request is at hand.
type Scope int

// The scopes.
const (
	AnyPlan   Scope = iota // also of plugin sets
	OfRelease              // of one release: a plan that a cluster carries out
	OfRequest              // of one release, with what was asked for at hand
)

// Form is an output form for plans: one value of the flag -o.
type Form struct {
	Name  string
	For   string // whom or what, for the documentation
	Scope Scope
	// Progress forms are also those of a run that applies.
	Progress bool
	// Human forms are for people: what is written is laid out for a terminal.
	Human bool
	// Aside forms hold something that the plan asks for, and no review: no
	// finding in them fails a preview.
	Aside bool
	// Open, Between and Close make one document of several plans.
	Open, Between, Close string

	write func(w io.Writer, p *preview.Plan, o Options) error
}

// Forms returns all output forms, in the order in which they are listed. Flags,
// completion, help and the table of the manual are made from them.
func Forms() []Form {
	return []Form{
		{Name: Text, For: "a terminal", Progress: true, Human: true, Between: "\n", write: writeText},
		{Name: Markdown, For: "a change review; under 60 kB, most important first, and it says what is cut", Human: true, Between: "\n", write: writeMarkdown},
		{Name: HTML, For: "a browser: one file with search, that loads nothing", Between: "\n", write: writeHTML},
		{Name: SARIF, For: "code scanning, SARIF 2.1.0: a result for each finding, at the file it comes from", Between: "\n", write: writeSARIF},
		{Name: JSON, For: programs, Progress: true, Open: "[\n", Between: ",\n", Close: "]\n", write: writeJSON},
		{Name: YAML, For: programs, Between: "---\n", write: writeYAML},
		{Name: Manifests, For: "the objects as they would be sent, in that order; values of Secrets, those whose key sounds like one, and passwords in options and URLs are masked, unless they are the name of a Secret of the plan", Between: "---\n", write: writeManifests},
		{Name: CloudPolicy, For: "a cloud team: AWS policies, Google Cloud roles, Azure role definitions, and what could not be derived", Between: "\n", write: writeCloudPolicy},
		{Name: Request, For: "a [request file](requests.md) with everything pinned", Scope: OfRequest, write: writeRequest},
		{Name: InstallerRole, For: "an administrator: the roles that let a user plan and apply exactly this; for an upgrade, rollback or removal with `--preview`, for a saved plan with `show`", Scope: OfRelease, Aside: true, write: writeInstallerRole},
		{Name: ReviewerRole, For: "an administrator: the roles that let a user make this review by reads alone, `preview --read-only get`, and write nothing", Scope: OfRelease, Aside: true, write: writeReviewerRole},
		{Name: PodTemplate, For: "the owner of a host: its pod template with the init container that installs a `PluginSet`; with `--for executor` the jobs' template", Scope: OfRequest, Aside: true, write: writePodTemplate},
	}
}

const programs = "programs; see [JSON](json.md)"

// FormOf returns the form with a name; false if there is none.
func FormOf(name string) (Form, bool) {
	all := Forms()
	i := slices.IndexFunc(all, func(f Form) bool { return f.Name == name })
	if i < 0 {
		return Form{}, false
	}
	return all[i], true
}

// Names returns the names of the forms that can show plans of a scope, in the order of
// [Forms].
func Names(scope Scope) []string {
	return namesOf(func(f Form) bool { return f.Scope <= scope })
}

// ProgressNames returns the names of the forms in which an apply can report its
// progress.
func ProgressNames() []string { return namesOf(func(f Form) bool { return f.Progress }) }

// SingleNames returns the names of the forms that cannot show several plans at once.
func SingleNames() []string { return namesOf(Form.Single) }

// Single reports whether the form can show only one plan at a time.
func (f Form) Single() bool { return f.Scope != AnyPlan }

func namesOf(which func(Form) bool) []string {
	var out []string
	for _, f := range Forms() {
		if which(f) {
			out = append(out, f.Name)
		}
	}
	return out
}

// OneOf joins names for a sentence: "text, markdown or json".
func OneOf(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
