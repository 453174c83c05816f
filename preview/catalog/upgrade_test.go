package catalog

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// chain is a package whose one channel has these entries, each written as
// "VERSION" or "VERSION REST-OF-THE-ENTRY".
func chain(name string, deprecated []string, entries ...string) string {
	text := fmt.Sprintf("---\nschema: olm.package\nname: %[1]s\ndefaultChannel: stable\n---\nschema: olm.channel\npackage: %[1]s\nname: stable\nentries:\n", name)
	var bundles string
	for _, e := range entries {
		version, rest, _ := strings.Cut(e, " ")
		text += fmt.Sprintf("- {name: %s.v%s%s}\n", name, version, rest)
		bundles += bundle(name+".v"+version, name, version)
	}
	text += bundles
	if len(deprecated) > 0 {
		text += fmt.Sprintf("---\nschema: olm.deprecations\npackage: %s\nentries:\n", name)
	}
	for _, v := range deprecated {
		text += fmt.Sprintf("- {reference: {schema: olm.bundle, name: %s.v%s}, message: old}\n", name, v)
	}
	return text
}

func at(version string) *Installed { return &Installed{Bundle: "m.v" + version, Version: version} }

func TestAnUpgradeOfSeveralStepsPlansTheFirstAndNamesTheOthers(t *testing.T) {
	line := []string{"1.8.1", "1.9.0 , replaces: m.v1.8.1", "1.10.0 , replaces: m.v1.9.0", "1.11.0 , replaces: m.v1.10.0"}
	fork := append(slices.Clone(line), "2.0.0 , replaces: m.v1.9.0, skips: [m.v1.11.0]")
	tests := []struct {
		name       string
		entries    []string
		deprecated []string
		version    string
		from       string
		want       string
		path       string
	}{
		{"to the head", line, nil, "", "1.8.1", "1.9.0", "1.8.1 → 1.9.0 (this plan) → 1.10.0 → 1.11.0; run upgrade again afterwards"},
		{"to the head that is one edge away", line, nil, "", "1.10.0", "1.11.0", ""},
		{"to a version", line, nil, "1.10.0", "1.8.1", "1.9.0", "1.8.1 → 1.9.0 (this plan) → 1.10.0; run upgrade again afterwards"},
		{"to the highest of a range at the same distance", fork, nil, ">=1.10.0", "1.8.1", "1.9.0", "1.8.1 → 1.9.0 (this plan) → 2.0.0; run upgrade again afterwards"},
		{"a range that one edge satisfies", line, nil, "^1", "1.8.1", "1.9.0", ""},
		{"the shortest of two ways", []string{"1.0.0", "1.1.0 , replaces: m.v1.0.0", "1.2.0 , replaces: m.v1.1.0", "1.1.5 , replaces: m.v1.0.0", "1.9.0 , replaces: m.v1.2.0, skips: [m.v1.1.5]"},
			nil, "1.9.0", "1.0.0", "1.1.5", "1.0.0 → 1.1.5 (this plan) → 1.9.0; run upgrade again afterwards"},
		{"the highest of two first steps", []string{"1.0.0", "1.1.0 , replaces: m.v1.0.0", "1.2.0 , skips: [m.v1.0.0]", "2.0.0 , skipRange: '>=1.1.0 <2.0.0', skips: [m.v1.1.0, m.v1.2.0]"},
			nil, "2.0.0", "1.0.0", "1.2.0", "1.0.0 → 1.2.0 (this plan) → 2.0.0; run upgrade again afterwards"},
		{"around what is deprecated", []string{"1.0.0", "1.1.0 , replaces: m.v1.0.0", "1.2.0 , skips: [m.v1.0.0]", "2.0.0 , skipRange: '>=1.1.0 <2.0.0', skips: [m.v1.1.0, m.v1.2.0]"},
			[]string{"1.2.0"}, "2.0.0", "1.0.0", "1.1.0", "1.0.0 → 1.1.0 (this plan) → 2.0.0; run upgrade again afterwards"},
		{"not on to a head that is deprecated", line, []string{"1.11.0"}, "", "1.9.0", "1.10.0", ""},
		{"through a bundle that the catalog does not have", []string{"1.9.0 , replaces: m.v1.8.0", "1.10.0 , replaces: m.v1.9.0"}, nil, "1.10.0", "1.8.0", "1.9.0", "1.8.0 → 1.9.0 (this plan) → 1.10.0; run upgrade again afterwards"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := Resolve(one(t, chain("m", test.deprecated, test.entries...)), Query{Package: "m", Version: test.version, Installed: at(test.from)})
			if err != nil {
				t.Fatal(err)
			}
			if got.Version != test.want || got.Path(test.from) != test.path {
				t.Errorf("got %s, path %q; want %s, %q", got.Version, got.Path(test.from), test.want, test.path)
			}
			if test.path != "" && !strings.Contains(got.Why, "the first step to") {
				t.Errorf("why: %q", got.Why)
			}
		})
	}
}

func TestAChainGoesDownNever(t *testing.T) {
	// 0.9.0 would lead to 2.0.0, and 1.0.0 leads to 0.9.0.
	cats := one(t, chain("m", nil, "1.0.0", "0.9.0 , replaces: m.v1.0.0", "2.0.0 , replaces: m.v0.9.0"))
	_, err := Resolve(cats, Query{Package: "m", Version: "2.0.0", Installed: at("1.0.0")})
	mustFail(t, err, `no edge of channel stable leads from m.v1.0.0 to a version "2.0.0"; it leads to 0.9.0`)
	_, err = Resolve(cats, Query{Package: "m", Installed: at("1.0.0")})
	mustFail(t, err, "channel stable leads from 1.0.0 down to 0.9.0; a downgrade is planned only when its version is asked for")
	got, err := Resolve(cats, Query{Package: "m", Version: "0.9.0", Installed: at("1.0.0")})
	if err != nil || got.Version != "0.9.0" {
		t.Errorf("asked for: %+v, %v", got, err)
	}
}

func TestASkipRangeThatDoesNotParseSkipsOverNothingAndIsNamed(t *testing.T) {
	cats := one(t, chain("m", nil, "1.0.0", "2.0.0 , skipRange: '>>1', replaces: m.v1.5.0"))
	_, err := Resolve(cats, Query{Package: "m", Version: "2.0.0", Installed: at("1.0.0")})
	mustFail(t, err, `entry "m.v2.0.0" skips over nothing: its skipRange ">>1" is no range`)
	if got, err := Resolve(cats, Query{Package: "m"}); err != nil || got.Version != "2.0.0" {
		t.Errorf("without an installed bundle: %+v, %v", got, err)
	}
}

func TestSelfCertifiedTakesAnyVersion(t *testing.T) {
	cats := one(t, mongodbCatalog())
	ask := func(q Query) (*Choice, error) {
		q.Package, q.Policy = "mongodb", SelfCertified
		return Resolve(cats, q)
	}
	installed := func(v string) *Installed { return &Installed{Bundle: "mongodb.v" + v, Version: v} }
	for name, test := range map[string]struct {
		query   Query
		version string
		current bool
	}{
		"the head, over two edges":         {Query{Installed: installed("1.8.0")}, "1.10.0", false},
		"an older one that was asked for":  {Query{Installed: installed("1.10.0"), Version: "1.8.0"}, "1.8.0", false},
		"what is there":                    {Query{Installed: installed("1.10.0")}, "1.10.0", true},
		"from a bundle that nobody knows":  {Query{Installed: &Installed{"other.v0", "0.1.0"}}, "1.10.0", false},
		"the version that another pins":    {Query{Installed: installed("1.8.0"), Version: "1.9.0"}, "1.9.0", false},
		"a pre-release from a side branch": {Query{Installed: installed("1.8.0"), Channels: []string{"candidate"}}, "2.0.0-rc1", false},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ask(test.query)
			if err != nil || got.Version != test.version || got.Current != test.current || len(got.Next) > 0 {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

func TestSeveralChannelsAreOneScope(t *testing.T) {
	cats := one(t, mongodbCatalog())
	for name, test := range map[string]struct {
		query            Query
		version, channel string
	}{
		"two by name":           {Query{Channels: []string{"stable", "candidate"}}, "2.0.0-rc1", "candidate"},
		"all of them":           {Query{Channels: []string{EveryChannel}, Version: "<2"}, "1.10.0", "stable"},
		"a channel named twice": {Query{Channels: []string{"stable", "stable"}}, "1.10.0", "stable"},
		"along edges of either": {Query{Channels: []string{EveryChannel}, Installed: &Installed{"mongodb.v1.8.0", "1.8.0"}}, "2.0.0-rc1", "candidate"},
	} {
		t.Run(name, func(t *testing.T) {
			test.query.Package = "mongodb"
			got, err := Resolve(cats, test.query)
			if err != nil || got.Version != test.version || got.Channel != test.channel {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
	_, err := Resolve(cats, Query{Package: "mongodb", Channels: []string{"stable", "fast"}})
	mustFail(t, err, `has no channel "fast"`)
}

func TestTwoHeadsAreNamedAndTheHighestIsTaken(t *testing.T) {
	got, err := Resolve(one(t, chain("m", nil, "1.0.0", "1.1.0 , replaces: m.v1.0.0", "1.2.0")), Query{Package: "m"})
	if err != nil || got.Version != "1.2.0" || got.Why != "highest of the 2 heads of channel stable: m.v1.2.0, m.v1.1.0" {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestABundleMayBeInTwoChannels(t *testing.T) {
	text := mongodbCatalog() + "---\nschema: olm.channel\npackage: mongodb\nname: slow\nentries: [{name: mongodb.v1.9.0}]\n"
	got, err := Resolve(one(t, text), Query{Package: "mongodb", Channels: []string{"slow"}})
	if err != nil || got.Version != "1.9.0" || got.Channel != "slow" {
		t.Errorf("got %+v, %v", got, err)
	}
}

// A channel where every entry skips everything is searched in bounded time.
func TestAHostileChannelIsNotSearchedForever(t *testing.T) {
	var entries []string
	for i := range 3000 {
		entries = append(entries, fmt.Sprintf("1.%d.0 , skipRange: '=1.%d.0'", i+1, i))
	}
	_, err := Resolve(one(t, chain("m", nil, entries...)), Query{Package: "m", Version: "1.2999.0", Installed: at("1.0.0")})
	mustFail(t, err, "as far as was searched")
}

func TestARangeMeansPreReleasesOnlyWhereItNamesOne(t *testing.T) {
	cats := one(t, chain("m", nil, "1.0.0-rc.1", "1.0.0-rc.2 , replaces: m.v1.0.0-rc.1"))
	_, err := Resolve(cats, Query{Package: "m", Version: ">=0"})
	mustFail(t, err, `it has 1.0.0-rc.2, 1.0.0-rc.1; they are pre-releases, which a range means only when it names one`)
	for _, wanted := range []string{">=0-0", "1.0.0-rc.2", "~1.0.0-0"} {
		if got, err := Resolve(cats, Query{Package: "m", Version: wanted}); err != nil || got.Version != "1.0.0-rc.2" {
			t.Errorf("%s: %+v, %v", wanted, got, err)
		}
	}
}
