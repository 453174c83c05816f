package catalog

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// named loads a catalog with a priority.
func named(t testing.TB, reference string, priority int, text string) *Catalog {
	t.Helper()
	fsys := fstest.MapFS{"c": &fstest.MapFile{Data: []byte(text)}}
	c, err := Load(fsys, Origin{Reference: reference, Digest: "sha256:" + reference, Priority: priority})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestOfSeveralCatalogsThePriorityDecidesAndTheOthersAreNamed(t *testing.T) {
	broken := "---\nschema: olm.package\nname: m\n"
	tests := []struct {
		name     string
		cats     []*Catalog
		query    Query
		want     string // CATALOG VERSION, or a part of the error
		rejected []preview.RejectedCandidate
	}{
		{"the higher priority wins over the higher version",
			[]*Catalog{named(t, "low", 0, chain("m", nil, "2.0.0")), named(t, "high", 10, chain("m", nil, "1.0.0"))},
			Query{}, "high 1.0.0", []preview.RejectedCandidate{{Catalog: "low", Version: "2.0.0", Why: "priority 0 is below 10"}}},
		{"below zero is lower than none",
			[]*Catalog{named(t, "low", -1, chain("m", nil, "2.0.0")), named(t, "none", 0, chain("m", nil, "1.0.0"))},
			Query{}, "none 1.0.0", []preview.RejectedCandidate{{Catalog: "low", Version: "2.0.0", Why: "priority -1 is below 0"}}},
		{"what only a lower one has in range",
			[]*Catalog{named(t, "low", 0, chain("m", nil, "2.0.0")), named(t, "high", 10, chain("m", nil, "1.0.0"))},
			Query{Version: "2"}, "low 2.0.0", []preview.RejectedCandidate{{Catalog: "high", Why: `package "m" has no version "2" in channel stable; it has 1.0.0`}}},
		{"not deprecated before deprecated, whatever the priority",
			[]*Catalog{named(t, "low", 0, chain("m", nil, "1.5.0")), named(t, "high", 10, chain("m", []string{"2.0.0"}, "2.0.0"))},
			Query{}, "low 1.5.0", []preview.RejectedCandidate{{Catalog: "high", Version: "2.0.0", Why: "deprecated, and 1.5.0 is not"}}},
		{"all deprecated",
			[]*Catalog{named(t, "low", 0, chain("m", []string{"1.0.0"}, "1.0.0")), named(t, "high", 10, chain("m", []string{"2.0.0"}, "2.0.0"))},
			Query{}, "high 2.0.0", []preview.RejectedCandidate{{Catalog: "low", Version: "1.0.0", Why: "priority 0 is below 10"}}},
		{"equal priorities are an error even where one lacks the version",
			[]*Catalog{named(t, "first", 3, chain("m", nil, "1.0.0")), named(t, "second", 3, chain("m", nil, "2.0.0"))},
			Query{Version: "2"}, `in 2 catalogs: first and second; choose one with --catalog, or give one of them a higher priority`, nil},
		{"equal ones below the highest are no trouble",
			[]*Catalog{named(t, "first", 0, chain("m", nil, "1.0.0")), named(t, "second", 0, chain("m", nil, "2.0.0")), named(t, "high", 1, chain("m", nil, "3.0.0"))},
			Query{}, "high 3.0.0", []preview.RejectedCandidate{{Catalog: "first", Version: "1.0.0", Why: "priority 0 is below 1"}, {Catalog: "second", Version: "2.0.0", Why: "priority 0 is below 1"}}},
		{"a higher one that cannot be read is not passed over",
			[]*Catalog{named(t, "low", 0, chain("m", nil, "1.0.0")), named(t, "high", 10, broken)},
			Query{}, `package "m" in catalog high: it has no channels`, nil},
		{"a lower one that cannot be read is only named",
			[]*Catalog{named(t, "low", 0, broken), named(t, "high", 10, chain("m", nil, "1.0.0"))},
			Query{}, "high 1.0.0", []preview.RejectedCandidate{{Catalog: "low", Why: `package "m" in catalog low: it has no channels`}}},
		{"nothing in range anywhere",
			[]*Catalog{named(t, "low", 0, chain("m", nil, "1.0.0")), named(t, "high", 10, chain("m", nil, "2.0.0"))},
			Query{Version: "3"}, `in catalog high: package "m" has no version "3" in channel stable; it has 2.0.0; in catalog low: package "m" has no version "3"`, nil},
		{"an upgrade where the edges are",
			[]*Catalog{named(t, "low", 0, chain("m", nil, "1.0.0", "1.1.0 , replaces: m.v1.0.0")), named(t, "high", 10, chain("m", nil, "2.0.0"))},
			Query{Installed: at("1.0.0")}, "low 1.1.0", []preview.RejectedCandidate{{Catalog: "high", Why: "no edge of channel stable leads from m.v1.0.0, which is not in it either; --channel chooses another, an image or directory as REF needs no edge"}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.query.Package = "m"
			got, err := Resolve(test.cats, test.query)
			if err != nil {
				mustFail(t, err, test.want)
				return
			}
			if have := got.Catalog.Reference + " " + got.Version; have != test.want {
				t.Errorf("got %s, want %s", have, test.want)
			}
			if !slices.Equal(got.Rejected, test.rejected) {
				t.Errorf("rejected\n%+v, want\n%+v", got.Rejected, test.rejected)
			}
			if via := got.Via(); via.Why != got.Why || !slices.Equal(via.Rejected, got.Rejected) {
				t.Errorf("via %+v", via)
			}
		})
	}
}

func TestNamesThatCouldBeMistaken(t *testing.T) {
	for pair, want := range map[string]string{
		"mongodb mongodb":                       "",
		"mongodb mongdb":                        "one letter away from",
		"mongodb mongodbb":                      "one letter away from",
		"mongodb mnogodb":                       "one letter away from",
		"mongodb mangodb":                       "one letter away from",
		"mongodb m0ngodb":                       "easily read as",
		"mongodb-operator mongodb":              `but for the word operator the same as`,
		"mongodb-operator mongodboperator":      `but for the word operator the same as`,
		"grafana-operator grafama":              "one letter away from",
		"limitador lirnitador":                  "easily read as",
		"cert-manager certmanager":              "easily read as",
		"etcd ectd":                             "one letter away from",
		"redis reddis":                          "one letter away from",
		"ack-ecr-controller ack-ecs-controller": "", // short words differ by one letter all the time
		"dell-csi-operator dell-csm-operator":   "",
		"etcd keda":                             "",
		"mongodb postgresql":                    "",
		"kafka kafka-ui":                        "",
		"a b":                                   "",
		"operator operators":                    "one letter away from",
	} {
		a, b, _ := strings.Cut(pair, " ")
		if got := alike(a, b); got != want {
			t.Errorf("%s and %s: %q, want %q", a, b, got, want)
		}
		if got := alike(b, a); (got == "") != (want == "") {
			t.Errorf("%s and %s the other way round: %q", b, a, got)
		}
	}
}

func TestLookAlikesAreThoseThatAreBetterKnownOrElsewhere(t *testing.T) {
	withProvider := strings.Replace(chain("mongodb", nil, "1.0.0", "1.1.0 , replaces: mongodb.v1.0.0"),
		"value: {packageName: mongodb, version: 1.1.0}\n", "value: {packageName: mongodb, version: 1.1.0}\n- type: olm.csv.metadata\n  value: {provider: {name: \"MongoDB, Inc.\\nand more\"}}\n", 1)
	cats := []*Catalog{
		named(t, "own", 5, withProvider+chain("mongodb-operator", nil, "9.0.0")),
		named(t, "elsewhere", 5, chain("mongdb", nil, "1.0.0")),
		named(t, "lower", 4, chain("mongodbs", nil, "1.0.0")),
	}
	for name, want := range map[string][]string{
		"mongodb":          {`the name is one letter away from "mongdb" in catalog elsewhere; make sure which one is meant`},
		"mongodb-operator": {`the name is one letter away from "mongdb" in catalog elsewhere; make sure which one is meant`, `the name is but for the word operator the same as "mongodb" of MongoDB, Inc.; make sure which one is meant`},
	} {
		choice, err := Resolve(cats, Query{Package: name})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range LookAlikes(cats, choice) {
			got = append(got, l.String())
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got\n%q, want\n%q", name, got, want)
		}
	}
}

// The rule is worth nothing when people learn to look past it.
func TestSlowFewNamesOfRealCatalogsRaiseAnAlarm(t *testing.T) {
	slowtest.Skip(t, "the catalogs of the corpus")
	for catalogs, want := range map[string][]string{
		"community-operators-derived":                           {"flux"},
		"openshift-community-v4.19":                             nil,
		"community-operators-derived openshift-community-v4.19": {"flux"},
	} {
		var cats []*Catalog
		for i, name := range strings.Fields(catalogs) {
			c := loadCorpus(t, name)
			c.origin.Priority = -i
			cats = append(cats, c)
		}
		var flagged []string
		for _, c := range cats {
			for _, name := range c.Names() {
				choice, err := Resolve([]*Catalog{c}, Query{Package: name})
				if err == nil && len(LookAlikes(cats, choice)) > 0 {
					flagged = append(flagged, name)
				}
			}
		}
		if !slices.Equal(flagged, want) {
			t.Errorf("%s: flags %q, want %q", catalogs, flagged, want)
		}
	}
}

func FuzzAlike(f *testing.F) {
	f.Add("mongodb-operator", "m0ngodb")
	f.Fuzz(func(t *testing.T, a, b string) {
		if (alike(a, b) == "") != (alike(b, a) == "") {
			t.Errorf("%q and %q are alike one way only", a, b)
		}
	})
}
