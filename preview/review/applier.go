package review

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/commandline"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// AppliedBy says which tool applies the plan and what it applied before; empty if this
// program applies it.
func AppliedBy(p *preview.Plan) string {
	a := p.AppliedBy
	if a == nil {
		return ""
	}
	who, known := words.Joined(" ", a.Name(), a.Controller), ""
	switch {
	case a.Revision > 0 || hasApplied(p):
		who += ", which installed it"
	case a.State == "":
		who += ", which has not installed it yet"
	}
	if a.Object != "" {
		known = preview.IDPlace(a.Object)
	}
	if a.Revision > 0 {
		known = words.Joined(", ", known, fmt.Sprintf("revision %d", a.Revision))
	}
	return words.Joined(": ", who, words.Joined(", ", known, a.State))
}

// hasApplied reports whether a live object is of the tool that applies the plan.
func hasApplied(p *preview.Plan) bool {
	for i := range p.Objects {
		if p.Objects[i].Applied {
			return true
		}
	}
	return false
}

// applierSection says how the tool that applies the plan writes, and what it does not do or
// does besides.
func applierSection(p *preview.Plan) Section {
	if p.AppliedBy == nil {
		return Section{}
	}
	return Section{ID: Applier, Title: "HOW " + strings.ToUpper(p.AppliedBy.Name()) + " APPLIES IT", Lead: applierTexts(p)}
}

// applierTexts returns a sentence for the tool's way of writing, and one for each of its
// limits.
func applierTexts(p *preview.Plan) []string {
	a := p.AppliedBy
	var texts []string
	switch a.Method {
	case preview.MethodApply:
		text := "Server-side apply as field manager " + a.Manager
		if a.Overwrites {
			text += ": fields of other managers are overwritten."
		} else {
			text += ": it fails where another manager owns a field with another value."
		}
		texts = append(texts, text)
	case preview.MethodThreeWay:
		texts = append(texts, "A patch of what it sent before, this content and the live object, as field manager "+a.Manager+": fields that others changed since are set back only where the content changes or drops them, or has another value.")
	case preview.MethodUpdate:
		texts = append(texts, "The whole object is replaced, as field manager "+a.Manager+".")
	}
	for _, limit := range a.Limits {
		texts = append(texts, limitText(a.Tool, limit))
	}
	return texts
}

// limitTexts are what a limit of a tool means; the object or detail follows.
var limitTexts = map[preview.Limit]string{
	preview.LimitCRDsKept:     "A CRD of the directory crds is not upgraded",
	preview.LimitHookRuns:     "A hook runs",
	preview.LimitNotPruned:    "What the content no longer has stays in the cluster",
	preview.LimitKept:         "An object that the content no longer has is kept, as its annotation says",
	preview.LimitSuspended:    "Reconciliation is suspended: nothing is applied before it is resumed",
	preview.LimitWindow:       "A sync window says when something is applied",
	preview.LimitManual:       "Nothing is applied automatically: the change waits until that is asked for",
	preview.LimitWaits:        "Nothing is applied before another object is ready",
	preview.LimitOtherOwner:   "Another tool has an object, and writes it too",
	preview.LimitRemediation:  "After a failure",
	preview.LimitRecreates:    "An immutable field changes: the object is deleted and created again",
	preview.LimitIgnored:      "Fields are left as they are",
	preview.LimitOverwrites:   "What another manager changed is overwritten",
	preview.LimitNoController: "Nothing is applied before its controller is installed: its kinds are not served",
	preview.LimitNotHandled:   "Its controller has not handled what it follows yet",
	preview.LimitOption:       "An option or step of the tool is not planned, and what it changes is not shown",
	preview.LimitNotRead:      "Part of what the tool applies could not be read",
}

// ownTexts are those of [limitTexts] for which a tool has words of its own.
var ownTexts = map[string]map[preview.Limit]string{
	preview.ApplierFlux: {
		preview.LimitKept: "An object that the content no longer has is kept, as its label or annotation says",
	},
	preview.ApplierArgoCD: {
		preview.LimitKept:   "An object that the content no longer has is kept, as a sync option says",
		preview.LimitManual: "Nothing is applied automatically: the change waits for a sync",
	},
	preview.ApplierKapp: {
		preview.LimitSuspended: "The App is paused or canceled: nothing is applied before it is neither",
	},
	preview.ApplierOLMv0: {
		preview.LimitManual:    "Nothing is applied automatically: the InstallPlan waits for approval",
		preview.LimitNotPruned: "A CRD that the new version no longer has stays in the cluster",
		preview.LimitWaits:     "Nothing is applied before the namespace has one OperatorGroup, and no other",
		preview.LimitNotRead:   "Part of what OLM applies is not known: it could not be read, or OLM makes it anew",
	},
}

func limitText(tool string, limit preview.ApplierLimit) string {
	if limit.What == preview.LimitNotRunning {
		why := "has no workload in this cluster"
		if limit.Object != "" {
			why = "has no ready replica: " + preview.IDPlace(limit.Object)
		}
		return "Nothing is applied before " + limit.Detail + " runs, which " + why
	}
	text := cmp.Or(ownTexts[tool][limit.What], limitTexts[limit.What], string(limit.What))
	if limit.Object != "" {
		text += ": " + preview.IDPlace(limit.Object)
	}
	return words.Joined("  ", text, limit.Detail, windowText(limit.Window))
}

// windowText says when a sync window is open, and what that means; empty for none.
func windowText(w preview.SyncWindow) string {
	if w == (preview.SyncWindow{}) {
		return ""
	}
	text := w.Kind + " " + w.Schedule + " " + w.TimeZone + " for " + w.Duration
	if w.ManualSync {
		text += ", and manual syncs are allowed"
	}
	return strings.Join(strings.Fields(text), " ")
}

// appliedNotes says how a plan of another tool gets applied.
func appliedNotes(p *preview.Plan) []string {
	a := p.AppliedBy
	how := "By " + words.Joined(" ", a.Name(), a.Controller)
	switch {
	case nothingToDo(p):
		how = "The cluster is as " + a.Name() + " would leave it"
	case ownCommand(p) != "":
		how += ", with this command"
	case a.Object != "":
		how += ", once " + preview.IDPlace(a.Object) + " and its source have what was reviewed"
	}
	return []string{how + ".", "The digest of this review is " + p.Digest + "."}
}

// ownCommand returns the command of the tool that applies the plan; empty if a controller
// does, or if nothing changes.
func ownCommand(p *preview.Plan) string {
	if p.AppliedBy.Tool != preview.ApplierHelm || nothingToDo(p) || p.Request.File != "" || showsInstalled(p) {
		return ""
	}
	return commandline.Join("helm", "upgrade", "--install", p.Release.Name, p.Request.Reference, "-n", p.Release.Namespace)
}

// takeOverText stands before [takeOver].
const takeOverText = "To take the release over with this program instead:"

// takeOver returns the command that previews the plan of this program for a release of
// another tool.
func takeOver(p *preview.Plan) string {
	words := append(previewWords(p), "--adopt")
	for _, flag := range repeated(p, words, nil) {
		if !strings.HasPrefix(flag, "--applied-by=") {
			words = append(words, flag)
		}
	}
	return commandline.Join(words...)
}

// previewWords returns the words of the command that made the preview. What is installed
// has no reference.
func previewWords(p *preview.Plan) []string {
	words := []string{"kubectl", "operator", "preview"}
	switch {
	case p.Request.FileRequest != "":
		words = append(words, "-f", p.Request.File, "--request", p.Request.FileRequest)
	case p.Request.File != "":
		words = append(words, "-f", p.Request.File)
	case showsInstalled(p):
		words = append(words, "REF", p.Release.Name)
	default:
		words = append(words, p.Request.Reference, p.Release.Name)
	}
	return append(words, "-n", p.Release.Namespace)
}

// showsInstalled reports whether the content of the plan is what is installed.
func showsInstalled(p *preview.Plan) bool {
	for i := range p.Packages {
		for _, source := range p.Packages[i].Sources {
			if source.Kind == preview.SourceInstalled {
				return true
			}
		}
	}
	return false
}
