package deps

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview/catalog"
)

func TestCELRules(t *testing.T) {
	certified := catalog.Property{Type: "certified", Value: true}
	size := catalog.Property{Type: "size", Value: fields{"nodes": int64(3), "share": 0.5, "tags": []any{"a", nil}}}
	cat := published(t, "cat",
		bundle{pkg: "certs", version: "1.0.0", properties: []catalog.Property{certified}},
		bundle{pkg: "certs", version: "2.0.0", properties: []catalog.Property{provides("Certificate")}},
		bundle{pkg: "certs", version: "2.1.0-rc.1", properties: []catalog.Property{size}},
	)
	const version = `properties.exists(p, p.type == "olm.package" && p.value.packageName == "certs" && semver_compare(p.value.version, "%") < 0)`
	tests := []struct{ name, rule, want string }{
		{"a property", `properties.exists(p, p.type == "certified")`, "1.0.0"},
		{"its value", `properties.exists(p, p.type == "certified" && p.value)`, "1.0.0"},
		{"a number", `properties.exists(p, p.type == "size" && p.value.nodes > 2 && p.value.share < 1)`, "2.1.0-rc.1"},
		{"an item of a list", `properties.exists(p, p.type == "size" && "a" in p.value.tags)`, "2.1.0-rc.1"},
		{"an API", `properties.exists(p, p.type == "olm.gvk" && p.value.kind == "Certificate")`, "2.0.0"},
		{"an older version", strings.Replace(version, "%", "1.5.0", 1), "1.0.0"},
		{"a version read tolerantly", strings.Replace(version, "%", "v2.0", 1), "1.0.0"},
		{"an error is a no", `properties[1].value.nothing == 1 || properties.exists(p, p.type == "certified")`, "1.0.0"},
		{"a version that is none is a no", `semver_compare("one", "two") == 0`, ""},
		{"an index that is not there", `properties[100].type == "x"`, ""},
		{"a rule without end", `properties.all(a, ` + strings.Repeat(`[1,2,3,4,5,6,7,8,9,10].all(x, `, 10) + "true" + strings.Repeat(")", 11), ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inCerts := group("all", pkgOf("certs", ">0.0.0"), celRule(test.rule))
			p := Problem{Root: root(needs(inCerts)), Sources: sources(cat)}
			if test.want == "" {
				mustFail(t, p, "no catalog has a package that meets it")
				return
			}
			if got, want := names(mustSolve(t, p)), "certs "+test.want+", app 1.0.0"; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
	t.Run("alone, it is tried on every package", func(t *testing.T) {
		s := mustSolve(t, Problem{Root: root(needs(celRule(`properties.exists(p, p.type == "certified")`))), Sources: sources(cat)})
		if got := names(s); got != "certs 1.0.0, app 1.0.0" {
			t.Errorf("got %s", got)
		}
	})
	t.Run("what the cluster has meets none when its properties are not known", func(t *testing.T) {
		p := Problem{
			Root:      root(needs(fields{"failureMessage": "be certified", "cel": fields{"rule": `!properties.exists(p, p.type == "x") && size(properties) > 2`}})),
			Installed: []Installed{{Package: "certs", Version: "1.0.0", By: "ClusterExtension certs"}},
		}
		mustFail(t, p, `("be certified")`)
		p.Installed[0].Properties = []catalog.Property{certified, size, provides("A")}
		if got := mustSolve(t, p).Packages[0].Dependencies[0].Detail; got != "certs 1.0.0, ClusterExtension certs" {
			t.Errorf("got %q", got)
		}
	})
}

func TestBadCELRules(t *testing.T) {
	tests := []struct{ name, rule, want string }{
		{"no rule", "", "cel: field rule is empty"},
		{"no CEL", "properties.exists(", "does not compile"},
		{"a number", "1 + 1", "is not a condition: it results in int"},
		{"anything", "properties[0].value", "is not a condition: it results in dyn"},
		{"a function of another dialect", `lookup("x")`, "does not compile"},
		{"too long", "true || " + strings.Repeat(" ", maxRuleBytes), "at most 16384 are read"},
		{"too deep", strings.Repeat("(", 8000) + "true" + strings.Repeat(")", 8000), "does not compile"},
		{"too many signs", strings.Repeat("!-", 8000) + "true", "does not compile"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			mustFail(t, Problem{Root: root(needs(celRule(test.rule)))}, test.want)
		})
	}
}

func TestTheRulesOfAProblemHaveABudget(t *testing.T) {
	rules := newCEL()
	r, err := rules.compile(`properties.exists(p, p.type == "x")`)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.eval([]any{fields{"type": "y"}}); err != nil || rules.spent == 0 {
		t.Errorf("got %v after %d", err, rules.spent)
	}
	rules.spent = totalCost + 1
	if _, err := r.eval(nil); err == nil || !strings.Contains(err.Error(), "more steps than are allowed") {
		t.Errorf("got %v", err)
	}
}
