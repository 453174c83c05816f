package review

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/commandline"
)

// setCommand returns the words of the command that makes the plan of a plugin set
// again, and the further ones that approve and apply it. CONFIG stands for the config's
// name, which a plan loaded from a file does not have.
func setCommand(p *preview.Plan) (words, approval []string) {
	words = []string{"kubectl", "operator", "plugin"}
	installs := p.Request.Action != preview.RequestRollback && p.Request.Action != preview.RequestClean
	if installs {
		words = append(words, preview.RequestInstall, "-c", cmp.Or(p.Request.File, "CONFIG"))
		if strings.Contains(p.Request.File, "://") { // that of a server
			words = append(words, "--mode", "client")
		}
	} else {
		words = append(words, p.Request.Action)
	}
	if installs && (p.Against != nil || p.Request.File != "" && len(p.Platforms) > 0) { // about no place: the content is approved
		return append(words, "--platform", setPlatform(p)), []string{"--yes", "--approve", p.ContentDigest, "--ruleset", strconv.Itoa(p.Ruleset)}
	}
	known := p.Request.File != "" || p.Request.Revision > 0 || p.Request.Keep != nil || !installs && p.SavedAs == ""
	if p.SavedAs != "" || p.Options.Expires != "" || !known {
		if installs {
			words = append(words, "--location", p.Location.Path, "--platform", setPlatform(p))
		}
		return words, []string{planFlag, cmp.Or(p.SavedAs, "PLANFILE"), "--yes"}
	}
	switch p.Request.Action {
	case preview.RequestRollback:
		words = append(words, "--location", p.Location.Path, "--to", strconv.Itoa(p.Request.Revision))
	case preview.RequestClean:
		words = append(words, "--location", strings.TrimSuffix(p.Location.Path, preview.GenerationsSuffix))
		if p.Request.Keep != nil {
			words = append(words, "--keep", strconv.Itoa(*p.Request.Keep))
		}
	default:
		words = append(words, "--location", p.Location.Path, "--platform", setPlatform(p))
	}
	return words, []string{"--yes", "--approve", p.Digest, "--ruleset", strconv.Itoa(p.Ruleset)}
}

// setPlatform returns the value of --platform that gives the same plan.
func setPlatform(p *preview.Plan) string {
	if len(p.Platforms) == 0 {
		return p.Platform
	}
	var all []string
	for _, one := range p.Platforms {
		all = append(all, one.Platform)
	}
	return strings.Join(all, ",")
}

// SetRollback returns the command that reviews and makes the return to an earlier
// generation of plugin files.
func SetRollback(location string, generation int) string {
	return commandline.Join("kubectl", "operator", "plugin", "rollback", "--location", location, "--to", strconv.Itoa(generation))
}

// setNotes returns remarks about the command of [setCommand]: when it is refused, and
// what the approval covers.
func setNotes(p *preview.Plan) []string {
	text := "It is refused (exit 5) when artifacts, files at the location or rules differ from this review."
	switch p.Request.Action {
	case preview.RequestRollback:
		text = "It is refused (exit 5) when files at the location, those of the earlier generation or rules differ from this review."
	case preview.RequestClean:
		text = "It is refused (exit 5) when any of these files differ from this review."
	}
	switch {
	case p.Against != nil:
		return []string{"The location was not read, so this approves the content. It covers creating and updating files; anything else that the location needs is refused (exit 5) and named."}
	case len(p.Platforms) > 0:
		text = "It approves the content for " + preview.Plural(len(p.Platforms), "platform") + ", on each machine that it is run on; there it is refused (exit 5) when artifacts or rules differ, or files would be deleted. The review digest approves what happens on this machine alone."
		return []string{text}
	}
	return []string{text + " A plan saved with --out FILE is applied with --plan FILE --yes."}
}
