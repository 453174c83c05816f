package schema

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/version"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// NoObjects is the count in words if there are no objects; Uncounted begins the reason
// why objects cannot be counted.
const (
	NoObjects = "no objects"
	Uncounted = "objects that cannot be counted: "
)

// Pager lists the objects of a kind page by page.
type Pager interface {
	// Pages calls each with the objects of a kind in all namespaces, one page at a time,
	// until there are no more or each returns false. remaining is the number of objects
	// on later pages, 0 if the server does not say.
	Pages(ctx context.Context, apiVersion, kind string, each func(objects []map[string]any, remaining int) (more bool)) error
}

// Operands returns in words how many objects a CRD has, or why they cannot be counted.
// It errs if they may not be listed.
func Operands(ctx context.Context, pager Pager, definition map[string]any) (string, error) {
	kind := preview.String(definition, "spec", "names", "kind")
	version := preview.ServedVersion(definition)
	if version == "" {
		return Uncounted + "it serves no version", nil
	}
	total, more, err := CountObjects(ctx, pager, preview.String(definition, "spec", "group")+"/"+version, kind)
	switch {
	case preview.ReasonOf(err) == preview.ReasonNotServed:
		return Uncounted + "the cluster does not serve them", nil
	case err != nil:
		return "", err
	case total == 0:
		return NoObjects, nil
	case more:
		return fmt.Sprintf("more than %d %s objects", total, kind), nil
	case total == 1:
		return "1 " + kind + " object", nil
	}
	return strconv.Itoa(total) + " " + kind + " objects", nil
}

// CountStored returns in a sentence how many objects a CRD has, or why that is not
// known. It errs only if ctx is cancelled.
func CountStored(ctx context.Context, definition map[string]any, pager Pager) (string, error) {
	group, kind := preview.String(definition, "spec", "group"), preview.String(definition, "spec", "names", "kind")
	const unknown = "how many objects are stored is unknown: "
	for _, name := range slices.Backward(servedVersions(definition)) {
		n, more, err := CountObjects(ctx, pager, group+"/"+name, kind)
		switch {
		case ctx.Err() != nil:
			return "", ctx.Err()
		case preview.ReasonOf(err) == preview.ReasonNotServed:
			continue
		case preview.ReasonOf(err) == preview.ReasonForbidden:
			return unknown + "they may not be listed", nil
		case err != nil:
			return unknown + preview.Shorten(err.Error(), 300), nil
		case more:
			return fmt.Sprintf("at least %d objects are stored", n), nil
		case n == 1:
			return "1 object is stored", nil
		}
		return fmt.Sprintf("%d objects are stored", n), nil
	}
	return unknown + "the cluster serves none of its versions", nil
}

// CountObjects returns the number of objects of a kind: the objects of the first page,
// and as many as the server says remain. If the server does not say, the pages are
// counted, and more is true if there are more than [MaxChecked] objects.
func CountObjects(ctx context.Context, pager Pager, apiVersion, kind string) (n int, more bool, err error) {
	err = pager.Pages(ctx, apiVersion, kind, func(objects []map[string]any, remaining int) bool {
		n += len(objects) + remaining
		more = n >= MaxChecked && remaining == 0
		return remaining == 0 && !more
	})
	return n, more, err
}

// VersionsText returns in words which versions a CRD serves.
func VersionsText(definition map[string]any) string {
	names := servedVersions(definition)
	if len(names) == 0 {
		return "serves no version"
	}
	return "serves " + strings.Join(names, ", ")
}

// servedVersions returns the names of the versions that a CRD serves, the newest last.
func servedVersions(definition map[string]any) []string {
	var names []string
	for _, v := range preview.Maps(preview.Map(definition, "spec"), "versions") {
		if v["served"] == true {
			names = append(names, preview.String(v, "name"))
		}
	}
	slices.SortFunc(names, version.CompareKubeAwareVersionStrings)
	return names
}
