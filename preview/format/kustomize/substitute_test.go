package kustomize

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
)

func substituted(t testing.TB, object string, variables map[string]string) (map[string]any, error) {
	t.Helper()
	all := tree(map[string]string{"kustomization.yaml": "resources: [a.yaml]\n", "a.yaml": "apiVersion: v1\nkind: ConfigMap\n" + object})
	out, err := New().Render(t.Context(), format.Input{Content: all, Params: format.Params{Variables: variables}})
	if err != nil {
		return nil, err
	}
	return out.Objects[0].Body, nil
}

// The rules for variables in Flux' own documentation of postBuild.
func TestVariablesAreSubstitutedAsFluxDoes(t *testing.T) {
	variables := map[string]string{"CITY": "Oslo", "N": "3", "on": "true", "region": "eu-central-1"}
	for _, test := range []struct {
		text string
		want any
	}{
		{"${CITY}", "Oslo"},
		{"in ${CITY}!", "in Oslo!"},
		{"${N}", int64(3)},
		{`"${N}"`, int64(3)}, // the quotes are gone before, as in Flux
		{"${on}", true},
		{"${NONE}", nil},
		{"x${NONE}", "x"},
		{"${NONE:=Rome}", "Rome"},
		{"${NONE:-Rome}", "Rome"},
		{"${NONE:=${CITY}}", "Oslo"},
		{"${CITY:=Rome}", "Oslo"},
		{"${CITY,,}", "oslo"},
		{"${region/eu/us}", "us-central-1"},
		{"${region:0:2}", "eu"},
		{"${#CITY}", int64(4)},
		{"$CITY", "$CITY"},
		{"$${CITY}", "${CITY}"},
	} {
		body, err := substituted(t, "metadata: {name: a}\ndata:\n  k: "+test.text+"\n", variables)
		if err != nil {
			t.Errorf("%s: %v", test.text, err)
			continue
		}
		if got := preview.Value(body, "data", "k"); got != test.want {
			t.Errorf("%s: got %#v, want %#v", test.text, got, test.want)
		}
	}
	body, err := substituted(t, "metadata: {name: \"${CITY,,}-a\", labels: {\"${CITY}\": a}}\n", variables)
	if err != nil || preview.String(body, "metadata", "name") != "oslo-a" || preview.String(body, "metadata", "labels", "Oslo") != "a" {
		t.Errorf("names and keys: got %v, %v", body, err)
	}
}

func TestVariablesStayWhereTheyAreNotToBeSubstituted(t *testing.T) {
	const data = "data: {k: \"${CITY}\"}\n"
	variables := map[string]string{"CITY": "Oslo"}
	for name, object := range map[string]string{
		"by an annotation": "metadata: {name: a, annotations: {" + substituteKey + ": disabled}}\n" + data,
		"by a label":       "metadata: {name: a, labels: {" + substituteKey + ": disabled}}\n" + data,
	} {
		if body, err := substituted(t, object, variables); err != nil || preview.String(body, "data", "k") != "${CITY}" {
			t.Errorf("%s: got %v, %v", name, body, err)
		}
	}
	if body, err := substituted(t, "metadata: {name: a}\n"+data, nil); err != nil || preview.String(body, "data", "k") != "${CITY}" {
		t.Errorf("without variables: got %v, %v", body, err)
	}
}

func TestWhatVariablesBreakIsNamed(t *testing.T) {
	for text, want := range map[string]string{
		"${":     "substituting variables in ConfigMap a: ",
		"${BAD}": "substituting variables in ConfigMap a: ",
		// Each level repeats the one within for each letter.
		strings.Repeat("${A//a/", 12) + "a" + strings.Repeat("}", 12): "",
	} {
		_, err := substituted(t, "metadata: {name: a}\ndata:\n  k: x "+text+"\n", map[string]string{"A": strings.Repeat("a", 12), "BAD": "a: b: c"})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20s: got %v, want %q", text, err, want)
		}
	}
	if got := fmt.Sprint(format.Params{Variables: map[string]string{"a": "b"}}.None("a chart")); got != "a chart has no variables to substitute" {
		t.Errorf("got %s", got)
	}
}
