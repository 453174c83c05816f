package planning

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/kubectl-operator/kubectl-operator/preview/catalog"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/format/helm"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
)

// asChosen refuses content that says of itself that it is another package, or
// another version, than the catalog says: that is what was asked for, and what
// upgrade edges were followed for. Content that has no name is what the catalog
// calls it.
func (out *Resolution) asChosen() error {
	if out.choice == nil {
		return nil
	}
	if out.info.Package == "" {
		out.info.Package = out.choice.Package
	}
	if out.info.Package != out.choice.Package || out.info.Version != "" && !sameVersion(out.info.Version, out.choice.Version) {
		return contradicts(out.choice, out.info)
	}
	return nil
}

// contradicts is the refusal of content that is not what a catalog says it is.
func contradicts(choice *catalog.Choice, is format.Info) error {
	return Refuse(
		fmt.Sprintf("catalog %s says that %s is %s %s, and it is %s", choice.Catalog.Reference, choice.Image, choice.Package, choice.Version, strings.TrimSpace(is.Package+" "+is.Version)),
		"tell the catalog's publisher; the image itself can be named instead of the package",
	)
}

// sameVersion compares versions as texts, but for a "v" before them.
func sameVersion(a, b string) bool { return strings.TrimPrefix(a, "v") == strings.TrimPrefix(b, "v") }

// chartAsListed refuses an archive that says of itself that it is another chart,
// or another version, than the index or tag that led to it.
func chartAsListed(pin source.Pin, content fs.FS) error {
	listed := pin.Reference.Kind == ref.KindChart
	if !listed && pin.Version == "" {
		return nil
	}
	is, err := helm.New().Detect(content)
	switch {
	case err != nil:
		return nil // which detecting the format says
	case is == nil && listed:
		return Refuse(fmt.Sprintf("%s lists an archive that is no chart: it has no Chart.yaml", listing(pin.Reference)), "tell the repository's publisher")
	case is == nil:
		return nil
	}
	says := []string{}
	if listed && is.Package != pin.Reference.Name {
		says = append(says, "chart "+pin.Reference.Name)
	}
	if version := pin.Version; version != "" && !sameVersion(is.Version, version) {
		says = append(says, "version "+version)
	} else if asked := pin.Reference.Version; version == "" && asked != "" && !inRange(is.Version, asked) {
		says = append(says, "a version in the range "+asked)
	}
	if len(says) == 0 {
		return nil
	}
	return Refuse(
		fmt.Sprintf("by %s %s is %s, and it is %s %s", listing(pin.Reference), pin.Source.Digest, strings.Join(says, ", "), is.Package, is.Version),
		"tell the repository's publisher; the archive itself can be named instead",
	)
}

// listing names what lists charts.
func listing(r ref.Reference) string {
	if r.Kind == ref.KindChart {
		return "the index of " + r.URL
	}
	return "the tags of " + repositoryName(r.Image)
}

func inRange(version, asked string) bool {
	if sameVersion(version, asked) {
		return true
	}
	constraint, err := semver.NewConstraint(asked)
	if err != nil {
		return false
	}
	is, err := semver.NewVersion(version)
	return err == nil && constraint.Check(is)
}
