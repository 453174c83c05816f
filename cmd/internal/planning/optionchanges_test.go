package planning

import (
	"slices"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview/catalog"
)

// The review names the channel and the catalog of a release where they are not the
// package's default and that of the record.
func TestChangesOfTheChannelAndCatalog(t *testing.T) {
	chosen := func(channel, standard string) *catalog.Choice {
		return &catalog.Choice{Channel: channel, DefaultChannel: standard, Catalog: catalog.Origin{Reference: "cat"}}
	}
	for _, tt := range []struct {
		name, catalog, channel string
		to                     *catalog.Choice
		want                   []string
	}{
		{"the default stays", "cat", "stable", chosen("stable", "stable"), nil},
		{"another than the default stays", "cat", "candidate", chosen("candidate", "stable"), []string{"kept --channel candidate; the default is stable"}},
		{"the package has a new default", "cat", "v1", chosen("v1", "v2"), []string{"kept --channel v1; the default is v2"}},
		{"a flag names another", "cat", "stable", chosen("candidate", "stable"), []string{"changed --channel stable -> candidate; the default is stable"}},
		{"back to the default", "cat", "candidate", chosen("stable", "stable"), []string{"dropped --channel candidate; the default is stable"}},
		{"the record has none", "cat", "", chosen("stable", "stable"), nil},
		{"another catalog", "old", "stable", chosen("stable", "stable"), []string{"changed --catalog old -> cat"}},
		{"the installed version came from no catalog", "", "", chosen("candidate", "stable"), nil},
		{"the planned version comes from none", "cat", "candidate", nil, nil},
	} {
		var got []string
		for _, c := range catalogChanges(tt.catalog, tt.channel, tt.to) {
			got = append(got, c.Change+" "+c.Text())
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
