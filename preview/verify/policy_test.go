package verify_test

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview/verify"
)

func TestTheLongestPrefixWins(t *testing.T) {
	policies := []verify.Policy{
		{Prefix: "r.example", Signer: verify.Signer{Key: "host"}},
		{Prefix: "r.example/team", Mode: verify.IfPresent, Signer: verify.Signer{Key: "team"}},
		{Prefix: "r.example/team/app", Mode: verify.Off},
		{Prefix: "docker.io/org", Signer: verify.Signer{Key: "hub"}},
		{Prefix: "docker.io/library/app", Signer: verify.Signer{Key: "official"}},
	}
	if err := verify.CheckPolicies(policies); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		repository, key string
		mode            verify.Mode
	}{
		{"r.example/any", "host", verify.Required},
		{"R.Example:443/any", "host", verify.Required},
		{"r.example/team", "team", verify.IfPresent},
		{"r.example/team/other", "team", verify.IfPresent},
		{"r.example/teammate", "host", verify.Required},
		{"r.example/team/app", "", verify.Off},
		{"r.example/team/app/sub", "", verify.Off},
		{"r.example.evil/team", "", verify.IfPresent},
		{"r.example:5000/team", "", verify.IfPresent},
		{"index.docker.io/org/app", "hub", verify.Required},
		{"registry-1.docker.io/org/app", "hub", verify.Required},
		{"docker.io/app", "official", verify.Required},
		{"", "", verify.IfPresent},
	} {
		got := verify.Choose(policies, verify.Policy{}, test.repository)
		if got.Signer.Key != test.key || got.Mode != test.mode {
			t.Errorf("%s: got %+v, want key %q, mode %s", test.repository, got, test.key, test.mode)
		}
	}
}

func TestTheCommandLineWinsOverPolicies(t *testing.T) {
	policies := []verify.Policy{{Prefix: "r.example", Mode: verify.Off, Signer: verify.Signer{Key: "config"}}, {Mode: verify.Required}}
	for _, test := range []struct {
		name       string
		override   verify.Policy
		repository string
		key        string
		mode       verify.Mode
	}{
		{"nothing given", verify.Policy{}, "r.example/a", "config", verify.Off},
		{"a mode keeps the configured signer", verify.Policy{Mode: verify.Required}, "r.example/a", "config", verify.Required},
		{"a signer is required, whatever the configuration says", verify.Policy{Signer: verify.Signer{Key: "flag"}}, "r.example/a", "flag", verify.Required},
		{"signer and mode", verify.Policy{Mode: verify.IfPresent, Signer: verify.Signer{Key: "flag"}}, "r.example/a", "flag", verify.IfPresent},
		{"the empty prefix covers everything", verify.Policy{}, "other.example/a", "", verify.Required},
		{"and what comes from no repository", verify.Policy{}, "", "", verify.Required},
	} {
		got := verify.Choose(policies, test.override, test.repository)
		if got.Signer.Key != test.key || got.Mode != test.mode {
			t.Errorf("%s: got %+v, want key %q, mode %s", test.name, got, test.key, test.mode)
		}
	}
}

func TestPoliciesThatContradictThemselves(t *testing.T) {
	for want, policies := range map[string][]verify.Policy{
		"one prefix has one policy": {{Prefix: "docker.io/a"}, {Prefix: "index.docker.io/a/"}},
		"not a mode":                {{Prefix: "r.example", Mode: "strict"}},
		"all three":                 {{Prefix: "r.example", Signer: verify.Signer{Identity: "a"}}},
		"without tag, digest":       {{Prefix: "r.example/*"}},
		"a prefix is HOST":          {{Prefix: "oci://r.example"}},
	} {
		if err := verify.CheckPolicies(policies); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
