package helm

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// holding is a cluster that holds some objects.
type holding struct {
	objects map[string]map[string]any // by lookup name
	refused map[string]error          // by kind
	asked   []string
}

func (h *holding) Version(context.Context) (string, error) { return "v1.36.2+k3s1", nil }

func (h *holding) APIVersions(context.Context) ([]string, error) {
	return []string{"apps/v1", "apps/v1/Deployment", "monitoring.coreos.com/v1", "v1"}, nil
}

func (h *holding) Get(_ context.Context, ref preview.Ref) (map[string]any, error) {
	h.asked = append(h.asked, preview.LookupName(ref))
	return preview.CloneBody(h.objects[preview.LookupName(ref)]), h.refused[ref.Kind]
}

func (h *holding) List(_ context.Context, apiVersion, kind, namespace string) ([]map[string]any, error) {
	h.asked = append(h.asked, preview.LookupName(preview.Ref{APIVersion: apiVersion, Kind: kind, Namespace: namespace}))
	var out []map[string]any
	for _, body := range h.objects {
		if ref := preview.RefOf(body); ref.APIVersion == apiVersion && ref.Kind == kind && (namespace == "" || namespace == ref.Namespace) {
			out = append(out, preview.CloneBody(body))
		}
	}
	slices.SortFunc(out, func(a, b map[string]any) int { return strings.Compare(preview.RefOf(a).ID(), preview.RefOf(b).ID()) })
	return out, h.refused[kind]
}

func secret(name, password string) map[string]any {
	return map[string]any{
		"apiVersion": "v1", "kind": "Secret",
		"metadata": map[string]any{"name": name, "namespace": "here", "uid": "1", "resourceVersion": "7"},
		"data":     map[string]any{"password": password},
	}
}

func clusterWith(bodies ...map[string]any) *holding {
	h := &holding{objects: map[string]map[string]any{}, refused: map[string]error{}}
	for _, body := range bodies {
		h.objects[preview.LookupName(preview.RefOf(body))] = body
	}
	return h
}

func readsOf(out *format.Output) []string {
	var reads []string
	for _, r := range out.Resolved.ClusterReads {
		reads = append(reads, r.Kind+" "+r.Name+" "+r.Value)
	}
	return reads
}

// Each way that charts use their capabilities, and what is recorded of it.
func TestOnlyWhatAChartReadsOfItsCapabilitiesIsRecorded(t *testing.T) {
	const version = "kubeVersion  v1.36.2+k3s1"
	all := "apiVersion * " + preview.APIVersionValue([]string{"apps/v1", "apps/v1/Deployment", "monitoring.coreos.com/v1", "v1"}, "*")
	for name, c := range map[string]struct {
		template, want string
		reads          []string
	}{
		"nothing":                    {"x", "x", nil},
		"the version of Helm":        {"{{ .Capabilities.HelmVersion.Version }}", "v4.3.1", nil},
		"the version":                {"{{ .Capabilities.KubeVersion.Version }}", "v1.36.2+k3s1", []string{version}},
		"the version as text":        {"{{ .Capabilities.KubeVersion }}", "v1.36.2", []string{version}},
		"the version of old charts":  {"{{ .Capabilities.KubeVersion.GitVersion }}", "v1.36.2+k3s1", []string{version}},
		"a part of the version":      {"{{ .Capabilities.KubeVersion.Minor | quote }}", "36", []string{version}},
		"a constraint":               {`{{ semverCompare ">=1.30-0" .Capabilities.KubeVersion.Version }}x`, "truex", []string{version}},
		"one API":                    {`{{ .Capabilities.APIVersions.Has "monitoring.coreos.com/v1" }}x`, "truex", []string{"apiVersion monitoring.coreos.com/v1 served"}},
		"one kind that is not there": {`{{ .Capabilities.APIVersions.Has "apps/v1/Job" }}x`, "falsex", []string{"apiVersion apps/v1/Job absent"}},
		"two APIs of a variable":     {`{{ $a := .Capabilities.APIVersions }}{{ $a.Has "v1" }}{{ $a.Has "v2" }}`, "truefalse", []string{"apiVersion v1 served", "apiVersion v2 absent"}},
		"a search of the list":       {`{{ has "apps/v1" .Capabilities.APIVersions }}x`, "truex", []string{all}},
		"all of the list":            {"{{ range .Capabilities.APIVersions }}{{ . }} {{ end }}", "apps/v1 apps/v1/Deployment monitoring.coreos.com/v1 v1", []string{all}},
		"the length of the list":     {"{{ len .Capabilities.APIVersions }}x", "4x", []string{all}},
		"everything":                 {"{{ toJson .Capabilities | len }}x", "", []string{all, version}},
		"in a subtemplate":           {`{{ define "v" }}{{ .Capabilities.KubeVersion.Major }}x{{ end }}{{ include "v" . }}`, "1x", []string{version}},
	} {
		t.Run(name, func(t *testing.T) {
			in := input(chartOf("templates/a.yaml", configMap(c.template)))
			in.Cluster = clusterWith()
			out := renderChart(t, in)
			if got := preview.String(out.Objects[0].Body, "data", "v"); c.want != "" && got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if got := readsOf(out); !slices.Equal(got, c.reads) {
				t.Errorf("recorded %q, want %q", got, c.reads)
			}
			if notes := notesOf(out.Notes, rules.ContentDependsOnCluster.Name); (len(notes) > 0) != (len(c.reads) > 0) {
				t.Errorf("notes %q", notes)
			}
		})
	}
}

func TestFlagsAnswerInsteadOfTheCluster(t *testing.T) {
	template := configMap(`{{ .Capabilities.KubeVersion.Version }} {{ .Capabilities.APIVersions.Has "monitoring.coreos.com/v1" }} {{ .Capabilities.APIVersions.Has "example.com/v1" }}`)
	for name, c := range map[string]struct {
		params format.Params
		online string
		reads  int // of the cluster
	}{
		"none":         {format.Params{}, "v1.36.2+k3s1 true false", 3},
		"the version":  {format.Params{KubeVersion: "1.30"}, "v1.30 false false", 0},
		"API versions": {format.Params{APIVersions: []string{"example.com/v1"}}, "v1.36.2+k3s1 false true", 1},
		"both":         {format.Params{KubeVersion: "v1.30.1", APIVersions: []string{"example.com/v1"}}, "v1.30.1 false true", 0},
	} {
		t.Run(name, func(t *testing.T) {
			in := input(chartOf("templates/a.yaml", template))
			in.Params = c.params
			offline := renderChart(t, in)
			in.Cluster = clusterWith()
			online := renderChart(t, in)
			if got := preview.String(online.Objects[0].Body, "data", "v"); got != c.online {
				t.Errorf("with a cluster: %q, want %q", got, c.online)
			}
			if got := len(online.Resolved.ClusterReads); got != c.reads {
				t.Errorf("reads %q", readsOf(online))
			}
			same := preview.String(offline.Objects[0].Body, "data", "v") == c.online
			if settled := c.reads == 0; same != settled {
				t.Errorf("without one: %v", offline.Objects[0].Body)
			}
		})
	}
}

func TestALookupIsReadOnceAndRecordedByFingerprint(t *testing.T) {
	const template = `{{ $s := lookup "v1" "Secret" "here" "db" }}{{ if $s }}{{ $s.data.password }}{{ else }}new{{ end }}`
	render := func(cluster *holding) (string, []string) {
		in := input(chartOf("templates/a.yaml", configMap(template)))
		in.Cluster = cluster
		out := renderChart(t, in)
		return preview.String(out.Objects[0].Body, "data", "v"), readsOf(out)
	}
	v, reads := render(clusterWith())
	if v != "new" || !slices.Equal(reads, []string{"lookup v1/Secret/here/db absent"}) {
		t.Errorf("without it: %q, %q", v, reads)
	}
	cluster := clusterWith(secret("db", "aHVudGVyMg=="))
	v, one := render(cluster)
	if v != "aHVudGVyMg==" || len(one) != 1 || !strings.HasPrefix(one[0], "lookup v1/Secret/here/db sha256:") {
		t.Errorf("with it: %q, %q", v, one)
	}
	if !slices.Equal(cluster.asked, []string{"v1/Secret/here/db"}) {
		t.Errorf("asked %q", cluster.asked)
	}
	touched := secret("db", "aHVudGVyMg==")
	preview.Map(touched, "metadata")["resourceVersion"] = "8"
	if _, again := render(clusterWith(touched)); !slices.Equal(again, one) {
		t.Error("a resourceVersion counts")
	}
	if _, other := render(clusterWith(secret("db", "b3RoZXI="))); slices.Equal(other, one) {
		t.Error("another password does not count")
	}
}

func TestALookupMayLeadToAnother(t *testing.T) {
	in := input(chartOf("templates/a.yaml", configMap(
		`{{ $n := (lookup "v1" "Secret" "here" "db").data.password }}{{ if $n }}{{ (lookup "v1" "Secret" "here" $n).data.password }}{{ end }}x`)))
	in.Content = chartOf("templates/a.yaml", configMap(
		`{{ $d := lookup "v1" "Secret" "here" "db" }}{{ if $d }}{{ (lookup "v1" "Secret" "here" $d.data.password).metadata | toJson | len }}{{ end }}x`))
	in.Cluster = clusterWith(secret("db", "next"), secret("next", "end"))
	if reads := readsOf(renderChart(t, in)); len(reads) != 2 {
		t.Errorf("reads %q", reads)
	}
}

func TestALookupOfAllObjectsIsAList(t *testing.T) {
	in := input(chartOf("templates/a.yaml", configMap(`{{ range (lookup "v1" "Secret" "" "").items }}{{ .metadata.name }} {{ end }}`)))
	in.Cluster = clusterWith(secret("a", "eA=="), secret("b", "eA=="))
	out := renderChart(t, in)
	if got := preview.String(out.Objects[0].Body, "data", "v"); got != "a b" {
		t.Errorf("got %q", got)
	}
	if reads := readsOf(out); len(reads) != 1 || !strings.HasPrefix(reads[0], "lookup v1/Secret/-/* sha256:") {
		t.Errorf("reads %q", reads)
	}
}

func TestWithoutAClusterALookupFindsNothingAndSaysSo(t *testing.T) {
	out := renderChart(t, input(chartOf("templates/a.yaml", configMap(`{{ if lookup "v1" "Secret" "here" "db" }}old{{ else }}new{{ end }}`))))
	if reads := readsOf(out); !slices.Equal(reads, []string{"lookup v1/Secret/here/db not asked"}) {
		t.Errorf("reads %q", reads)
	}
	want := []string{"package/demo: its templates depend on objects in the cluster, and no cluster was asked: defaults stand in, and a cluster may lead to other content"}
	if got := notesOf(out.Notes, rules.ContentDependsOnCluster.Name); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestALookupThatIsNotAllowedOrNotServed(t *testing.T) {
	in := input(chartOf("templates/a.yaml", configMap(`{{ if lookup "v1" "Secret" "here" "db" }}old{{ else }}new{{ end }}`)))
	cluster := clusterWith()
	in.Cluster = cluster
	cluster.refused["Secret"] = &preview.Refusal{Reason: preview.ReasonForbidden, Message: "no"}
	if got := refusal(t, in); !strings.HasPrefix(got, "its templates look up v1/Secret/here/db: you may not read it (") {
		t.Error(got)
	}
	cluster.refused["Secret"] = &preview.Refusal{Reason: preview.ReasonNotServed, Message: "no"}
	if reads := readsOf(renderChart(t, in)); !slices.Equal(reads, []string{"lookup v1/Secret/here/db absent"}) {
		t.Errorf("reads %q", reads)
	}
}

func TestLookupsWithoutEndAreStopped(t *testing.T) {
	in := input(chartOf("templates/a.yaml", configMap(`{{ range until 1000 }}{{ lookup "v1" "Secret" "here" (printf "s%d" .) }}{{ end }}`)))
	in.Cluster = clusterWith()
	if got := refusal(t, in); !strings.Contains(got, "more than 500 objects") {
		t.Error(got)
	}
	chain := `{{ define "next" }}{{ $s := lookup "v1" "Secret" "here" .name }}{{ if $s }}{{ include "next" (dict "name" $s.data.password) }}{{ end }}{{ end }}`
	in.Content = chartOf("templates/a.yaml", chain+configMap(`{{ include "next" (dict "name" "s0") }}x`))
	var bodies []map[string]any
	for i := range 20 {
		bodies = append(bodies, secret("s"+string(rune('0'+i)), "s"+string(rune('0'+i+1))))
	}
	in.Cluster = clusterWith(bodies...)
	if got := refusal(t, in); !strings.Contains(got, "each of its lookups leads to another") && !strings.Contains(got, "no object can have") {
		t.Error(got)
	}
}
