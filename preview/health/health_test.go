package health

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

func parse(t testing.TB, text string) map[string]any {
	t.Helper()
	docs, err := preview.Decode([]byte(text))
	if err != nil || len(docs) != 1 {
		t.Fatalf("decoding the test's own object: %d documents, %v", len(docs), err)
	}
	return docs[0].(map[string]any)
}

const database = `{apiVersion: mongodb.com/v1, kind: MongoDB, metadata: {name: main, generation: 2, labels: {tier: data}},
  status: {phase: Running, replicas: 3, readyReplicas: 3, big: 9007199254740993, conditions: [{type: Ready, status: "True", observedGeneration: 2}, {type: Old, status: "True", observedGeneration: 1}]}}`

func TestParse(t *testing.T) {
	for _, test := range []struct {
		name, text string
		selects    bool
		holds      bool
		why        string
	}{
		{"a kind of a group", "MongoDB.mongodb.com=self.status.phase == 'Running'", true, true, ""},
		{"one object", "MongoDB.mongodb.com/main=self.status.readyReplicas >= 3", true, true, ""},
		{"another object", "MongoDB.mongodb.com/other=true", false, true, ""},
		{"another group", "MongoDB=true", false, true, ""},
		{"a statement that is false", "MongoDB.mongodb.com=self.status.phase == 'Failed'", true, false, "self.status.phase == 'Failed' is false"},
		{"a field that is not there yet", "MongoDB.mongodb.com=self.status.ready", true, false, "no such key: ready"},
		{"an equals sign in the expression", "MongoDB.mongodb.com=self.status.phase=='Running'", true, true, ""},
		{"integers beyond a double", "MongoDB.mongodb.com=self.status.big == 9007199254740993", true, true, ""},
		{"what a condition says", "MongoDB.mongodb.com=self.status.conditions.exists(c, c.type == 'Ready' && c.status == 'True')", true, true, ""},
		{"something else than asked", "MongoDB.mongodb.com=self.status.phase", true, false, "it gives a string; want true or false"},
		{"no end of work", "MongoDB.mongodb.com=" + endless, true, false, "it takes too long"},
	} {
		t.Run(test.name, func(t *testing.T) {
			check, err := Parse(test.text)
			if err != nil {
				t.Fatal(err)
			}
			body := parse(t, database)
			if got := check.Selects(body); got != test.selects {
				t.Errorf("selects: %v", got)
			}
			if ok, why := check.Holds(body); ok != test.holds || !strings.Contains(why, test.why) {
				t.Errorf("holds: %v %q, want %v %q", ok, why, test.holds, test.why)
			}
		})
	}
}

const endless = `[1,2,3,4,5,6,7,8,9,10].all(a, [1,2,3,4,5,6,7,8,9,10].all(b, [1,2,3,4,5,6,7,8,9,10].all(c, [1,2,3,4,5,6,7,8,9,10].all(d, [1,2,3,4,5,6,7,8,9,10].all(e, [1,2,3,4,5,6,7,8,9,10].all(f, [1,2,3,4,5,6,7,8,9,10].all(g, a+b+c+d+e+f+g+self.status.replicas > 0)))))))`

func TestParseNamesWhatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "want KIND[.GROUP][/NAME]=EXPRESSION",
		"Deployment.apps":                 "want KIND[.GROUP][/NAME]=EXPRESSION",
		"deployment=true":                 "want KIND[.GROUP][/NAME]=EXPRESSION",
		"Deployment.apps/=true":           "want KIND[.GROUP][/NAME]=EXPRESSION",
		"Deployment.apps=":                "it is empty",
		"Deployment.apps=self.spec.":      "line 1, column 11",
		"Deployment.apps=self.a == other": "undeclared reference to 'other' (in container '') (line 1, column 11)",
		"Deployment.apps=1 + 1":           "it gives int; want bool",
		"Deployment.apps=" + strings.Repeat("(", 20_000): "at most 10000",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%q): %v, want %q", clip(text), err, want)
		}
	}
}

func TestProbe(t *testing.T) {
	kind := Selector{Type: ByGroupKind, Group: "mongodb.com", Kind: "MongoDB"}
	for _, test := range []struct {
		name      string
		selector  Selector
		assertion Assertion
		selects   bool
		why       string // empty when it holds
	}{
		{"a condition", kind, Assertion{Type: ConditionEqual, Condition: "Ready", Status: "True"}, true, ""},
		{"a condition that differs", kind, Assertion{Type: ConditionEqual, Condition: "Ready", Status: "False"}, true, "condition Ready is True, not False"},
		{"a condition of an older generation", kind, Assertion{Type: ConditionEqual, Condition: "Old", Status: "True"}, true, "older generation"},
		{"a condition nobody set", kind, Assertion{Type: ConditionEqual, Condition: "New", Status: "True"}, true, "no condition New yet"},
		{"equal fields", kind, Assertion{Type: FieldsEqual, FieldA: "status.replicas", FieldB: ".status.readyReplicas"}, true, ""},
		{"fields that differ", kind, Assertion{Type: FieldsEqual, FieldA: "status.replicas", FieldB: "status.phase"}, true, "status.replicas is 3, and status.phase is Running"},
		{"a field that is missing", kind, Assertion{Type: FieldsEqual, FieldA: "status.replicas", FieldB: "status.nothing"}, true, "status.nothing is not there yet"},
		{"a value", kind, Assertion{Type: FieldValue, FieldPath: "status.phase", Value: "Running"}, true, ""},
		{"a number as a value", kind, Assertion{Type: FieldValue, FieldPath: "status.replicas", Value: "3"}, true, ""},
		{"another value", kind, Assertion{Type: FieldValue, FieldPath: "status.phase", Value: "Failed"}, true, "status.phase is Running, not Failed"},
		{"CEL with a message", kind, Assertion{Type: CEL, Expression: "self.status.replicas > 5", Message: "too few"}, true, "too few"},
		{"another kind", Selector{Type: ByGroupKind, Kind: "MongoDB"}, Assertion{Type: CEL, Expression: "true"}, false, ""},
		{"labels", Selector{Type: ByLabel, MatchLabels: map[string]string{"tier": "data"}}, Assertion{Type: CEL, Expression: "true"}, true, ""},
		{"other labels", Selector{Type: ByLabel, MatchLabels: map[string]string{"tier": "web"}}, Assertion{Type: CEL, Expression: "true"}, false, ""},
		{"terms", Selector{Type: ByLabel, Terms: []Term{{"tier", "In", []string{"data"}}, {"x", "DoesNotExist", nil}, {"tier", "Exists", nil}, {"tier", "NotIn", []string{"web"}}}}, Assertion{Type: CEL, Expression: "true"}, true, ""},
		{"a term that is not met", Selector{Type: ByLabel, Terms: []Term{{"x", "Exists", nil}}}, Assertion{Type: CEL, Expression: "true"}, false, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			checks, err := Probe{test.selector, []Assertion{test.assertion}}.Checks()
			if err != nil || len(checks) != 1 {
				t.Fatalf("%d checks, %v", len(checks), err)
			}
			body := parse(t, database)
			if got := checks[0].Selects(body); got != test.selects {
				t.Errorf("selects: %v", got)
			}
			if ok, why := checks[0].Holds(body); ok != (test.why == "") || !strings.Contains(why, test.why) {
				t.Errorf("holds: %v %q, want %q", ok, why, test.why)
			}
		})
	}
}

func TestAProbeThatIsNone(t *testing.T) {
	kind := Selector{Type: ByGroupKind, Kind: "Pod"}
	for want, probe := range map[string]Probe{
		"groupKind has no kind":                  {Selector{Type: ByGroupKind}, []Assertion{{Type: CEL, Expression: "true"}}},
		"want GroupKind or Label":                {Selector{Type: "Name"}, []Assertion{{Type: CEL, Expression: "true"}}},
		"either matchLabels or matchExpressions": {Selector{Type: ByLabel}, []Assertion{{Type: CEL, Expression: "true"}}},
		`operator "Like"`:                        {Selector{Type: ByLabel, Terms: []Term{{"a", "Like", nil}}}, []Assertion{{Type: CEL, Expression: "true"}}},
		"there are no assertions":                {kind, nil},
		"assertions[0]: type \"Maybe\"":          {kind, []Assertion{{Type: "Maybe"}}},
		"True or False":                          {kind, []Assertion{{Type: ConditionEqual, Condition: "Ready", Status: "Unknown"}}},
		"two paths":                              {kind, []Assertion{{Type: FieldsEqual, FieldA: "a[0]", FieldB: "b"}}},
		"needs a fieldPath":                      {kind, []Assertion{{Type: FieldValue, FieldPath: "a"}}},
		"cel.expression: it does not compile":    {kind, []Assertion{{Type: CEL, Expression: "self."}}},
	} {
		if _, err := probe.Checks(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// FuzzParse holds that no check panics, whatever it is and whatever it is
// asked about.
func FuzzParse(f *testing.F) {
	f.Add("Deployment.apps/web=self.status.readyReplicas > 1")
	f.Add("A=self")
	f.Add("A=self.metadata.name.matches('(')")
	f.Fuzz(func(t *testing.T, text string) {
		check, err := Parse(text)
		if err != nil {
			return
		}
		for _, body := range []map[string]any{nil, {}, {"status": 5}, parse(t, database)} {
			check.Selects(body)
			check.Holds(body)
		}
	})
}
