package deps

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/catalog"
	"github.com/kubectl-operator/kubectl-operator/preview/catalog/catalogtest"
	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
)

// corpusBundles makes a catalog of the bundle directories of the corpus, as
// opm would.
func corpusBundles(t *testing.T) (Catalog, []bundle) {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(corpustest.Dir(t, "bundles"), "*", "*"))
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no bundles: %v", err)
	}
	var list []bundle
	for _, dir := range dirs {
		properties, err := FromContent(os.DirFS(dir))
		if err != nil {
			t.Errorf("%s: %v", dir, err)
			continue
		}
		csv, err := readCSV(os.DirFS(dir))
		if err != nil {
			t.Fatal(err)
		}
		b := bundle{pkg: filepath.Base(filepath.Dir(dir)), version: preview.String(csv, "spec", "version"), properties: properties}
		b.image = "quay.io/corpus/" + b.pkg + ":v" + strings.ReplaceAll(b.version, "+", "-")
		list = append(list, b)
	}
	return published(t, "corpus", list...), list
}

func TestDependenciesOfTheCorpus(t *testing.T) {
	cat, list := corpusBundles(t)
	tests := []struct{ pkg, version, want string }{
		{"kuadrant-operator", "0.11.0", "authorino-operator 0.13.0, limitador-operator 0.11.0, dns-operator 0.6.0, kuadrant-operator 0.11.0"},
		{"kuadrant-operator", "0.10.0", "authorino-operator 0.12.0, limitador-operator 0.10.0, dns-operator 0.6.0, kuadrant-operator 0.10.0"},
		{"rabbitmq-messaging-topology-operator", "1.19.3", "rabbitmq-cluster-operator 2.22.3, rabbitmq-messaging-topology-operator 1.19.3"},
		{"mercury-operator", "1.0.2", "mercury-operator 1.0.2 cannot be installed with its dependencies: mercury-operator 1.0.2 requires package camel-k 1.9.0; no catalog has that package; also, mercury-operator 1.0.2 requires package strimzi-kafka-operator 0.28.0; the catalogs have 1.0.0, 0.51.0; mercury-operator 1.0.2 requires API kafka.strimzi.io/v1beta2/Kafka; no catalog has a package that provides it; mercury-operator 1.0.2 requires API kafka.strimzi.io/v1beta2/KafkaTopic; no catalog has a package that provides it; mercury-operator 1.0.2 requires API kafka.strimzi.io/v1beta2/KafkaUser; no catalog has a package that provides it; mercury-operator 1.0.2 requires API camel.apache.org/v1/Integration; no catalog has a package that provides it"},
		{"dbaas-operator", "0.5.0", `dbaas-operator 0.5.0 cannot be installed with its dependencies: dbaas-operator 0.5.0 requires package ack-rds-controller >=0.0.27 <=0.1.3; no catalog has that package; also, dbaas-operator 0.5.0 requires any of (package rh-service-binding-operator >=1.0.0 ("Package rh-service-binding-operator is needed"); package service-binding-operator >=1.0.0 ("Package service-binding-operator is needed")) ("Service Binding Operator is required"); no catalog has a package that meets it`},
	}
	for _, test := range tests {
		t.Run(test.pkg+" "+test.version, func(t *testing.T) {
			i := slices.IndexFunc(list, func(b bundle) bool { return b.pkg == test.pkg && b.version == test.version })
			if i < 0 {
				t.Fatal("it is not in the corpus")
			}
			s, err := Solve(context.Background(), Problem{
				Root:    Root{Package: test.pkg, Version: test.version, Source: -1, Properties: list[i].properties},
				Sources: sources(cat),
			})
			got := ""
			if err != nil {
				got = err.Error()
			} else {
				got = names(s)
			}
			if got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func derived(t *testing.T) Catalog {
	t.Helper()
	f, err := os.Open(filepath.Join(corpustest.Dir(t, "catalogs", "community-operators-derived"), "catalog.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return catalogtest.Load(t, fstest.MapFS{"catalog.jsonl": {Data: data}}, catalog.Origin{Reference: "derived"})
}

func TestEveryPackageOfARealCatalogSolvesOrSaysWhy(t *testing.T) {
	cat := derived(t)
	if _, err := cat.Providers("none", "v1", "None"); err != nil { // making the table is not measured
		t.Fatal(err)
	}
	var took, longest time.Duration
	solved, more, slowest := 0, 0, ""
	var refused []string
	for _, name := range cat.Names() {
		p, err := cat.Package(name)
		if err != nil {
			continue // package catalog's tests name these two
		}
		head := p.Bundle(p.Channel(p.DefaultChannel).Heads[0])
		properties, err := head.Properties()
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		s, err := Solve(context.Background(), Problem{
			Root:    Root{Package: name, Version: head.Version.String(), Properties: properties},
			Sources: sources(cat),
		})
		if d := time.Since(start); d > longest {
			longest, slowest = d, name
		}
		took += time.Since(start)
		var unsatisfiable *Unsatisfiable
		switch {
		case errors.As(err, &unsatisfiable):
			refused = append(refused, strings.Join(unsatisfiable.Constraints, "; "))
		case err != nil:
			t.Errorf("%s: %v", name, err)
		default:
			solved++
			if len(s.Packages) > 1 {
				more++
			}
		}
	}
	want := []string{
		"eclipse-che 7.121.0 requires package devworkspace-operator >=0.11.0; no catalog has that package",
		"l5-operator 0.0.3 requires package crunchy-postgres-operator >=5.1.0; no catalog has that package",
		"shipwright-operator 0.15.2 requires API operator.tekton.dev/v1alpha1/TektonConfig; no catalog has a package that provides it",
		"special-resource-operator 4.9.0 requires API nfd.openshift.io/v1/NodeFeatureDiscovery; no catalog has a package that provides it",
	}
	if !slices.Equal(refused, want) {
		t.Errorf("refused %q", refused)
	}
	if solved != 326 || more != 9 {
		t.Errorf("%d solved, %d of them with dependencies", solved, more)
	}
	t.Logf("%d solved, %d of them with dependencies, %d refused, in %s; the slowest is %s with %s", solved, more, len(refused), took, slowest, longest)
}
