package chartlock_test

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/kubectl-operator/kubectl-operator/preview/format/chartlock"
)

// Dependencies of public charts, with the locks that Helm wrote for them.
const (
	redis = `apiVersion: v2
name: redis
dependencies:
  - name: common
    repository: oci://registry-1.docker.io/bitnamicharts
    tags:
      - bitnami-common
    version: 2.x.x
`
	redisLock = `dependencies:
- name: common
  repository: oci://registry-1.docker.io/bitnamicharts
  version: 2.4.0
digest: sha256:8c1a5dc923412d11d4d841420494b499cb707305c8b9f87f45ea1a8bf3172cb3
generated: "2023-05-21T16:05:08.152199835Z"
`
	stack = `apiVersion: v2
name: kube-prometheus-stack
dependencies:
- name: kube-state-metrics
  version: "4.1.*"
  repository: https://prometheus-community.github.io/helm-charts
  condition: kubeStateMetrics.enabled
- name: prometheus-node-exporter
  version: "2.2.*"
  repository: https://prometheus-community.github.io/helm-charts
  condition: nodeExporter.enabled
- name: grafana
  version: "6.19.*"
  repository: https://grafana.github.io/helm-charts
  condition: grafana.enabled
`
	stackLock = `dependencies:
- name: kube-state-metrics
  repository: https://prometheus-community.github.io/helm-charts
  version: 4.1.1
- name: prometheus-node-exporter
  repository: https://prometheus-community.github.io/helm-charts
  version: 2.2.2
- name: grafana
  repository: https://grafana.github.io/helm-charts
  version: 6.19.0
digest: sha256:3437708289e2e35e8de7ac468e0d7fe2df43e2d459857b8855cc84cb18501832
generated: "2021-12-10T14:28:39.401354003+01:00"
`
)

func chart(files ...string) fstest.MapFS {
	out := fstest.MapFS{}
	for i := 0; i < len(files); i += 2 {
		out[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	return out
}

func TestLocksThatHelmWroteAreThoseOfTheirCharts(t *testing.T) {
	for _, c := range []struct{ meta, lock, name, want string }{
		{redis, redisLock, "common", "oci://registry-1.docker.io/bitnamicharts/common:2.4.0"},
		{stack, stackLock, "grafana", "chart+https://grafana.github.io/helm-charts/grafana?version=6.19.0"},
		{strings.Replace(stack, "https://grafana.github.io/helm-charts", "'@grafana'", 1), stackLock, "grafana", "chart+https://grafana.github.io/helm-charts/grafana?version=6.19.0"},
	} {
		d, err := chartlock.Read(chart("Chart.yaml", c.meta, "Chart.lock", c.lock))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		found, err := d.Find(c.name)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := found.Reference(); err != nil || got != c.want {
			t.Errorf("%s: got %s, %v", c.name, got, err)
		}
	}
}

func TestALockOfOtherDependenciesIsRefused(t *testing.T) {
	for _, c := range []struct{ name, meta, lock, want string }{
		{"another version is wanted", strings.Replace(redis, "2.x.x", "3.x.x", 1), redisLock, `common is wanted in version "3.x.x", and locked to "2.4.0"`},
		{"another range, which the locked version is in", strings.Replace(redis, "2.x.x", "2.4.x", 1), redisLock, "the digest of the lock is of other dependencies"},
		{"another locked version", redis, strings.Replace(redisLock, "2.4.0", "2.4.1", 1), "the digest of the lock is of other dependencies"},
		{"another repository", strings.Replace(redis, "bitnamicharts", "x", 1), redisLock, `common comes from "oci://registry-1.docker.io/x", and is locked to "oci://registry-1.docker.io/bitnamicharts"`},
		{"one more dependency", stack, redisLock, "3 dependencies, and 1 are locked"},
		{"another name", strings.Replace(redis, "common", "uncommon", 1), redisLock, `dependency 1 is "uncommon", and locked is "common"`},
	} {
		_, err := chartlock.Read(chart("Chart.yaml", c.meta, "Chart.lock", c.lock))
		if _, differ := errors.AsType[*chartlock.DifferError](err); !differ || err.Error() != "Chart.yaml and Chart.lock differ: "+c.want {
			t.Errorf("%s: got %v", c.name, err)
		}
	}
}

func TestADependencyWithoutALockHasNoReference(t *testing.T) {
	d, err := chartlock.Read(chart("Chart.yaml", redis))
	if err != nil {
		t.Fatal(err)
	}
	found, err := d.Find("common")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := found.Reference(); err == nil {
		t.Errorf("got %s", got)
	}
	if !found.Allows("2.9.9") || found.Allows("3.0.0") {
		t.Errorf("its range %s does not count", found.Range)
	}
}

func TestWhatCannotBeReadIsOneSentence(t *testing.T) {
	for name, content := range map[string]fstest.MapFS{
		"no list":                chart("Chart.yaml", "dependencies: x"),
		"no name":                chart("Chart.yaml", "dependencies: [{version: 1.0.0}]"),
		"nothing in the list":    chart("Chart.yaml", "dependencies: [null]"),
		"too many":               chart("Chart.yaml", "dependencies: ["+strings.Repeat("{name: a},", 101)+"]"),
		"a lock that is none":    chart("Chart.yaml", redis, "Chart.lock", "- x"),
		"a lock that is too big": chart("Chart.yaml", redis, "Chart.lock", strings.Repeat("#", 2<<20)),
	} {
		if _, err := chartlock.Read(content); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
