// Package policy applies an organisation's own policy file to the findings of a plan:
// rules in CEL over the plan, other severities for built-in rules, and waivers with an
// owner, a reason and a last day.
//
// A policy never changes the facts of a plan, as findings are outside the digest. It is
// applied whenever findings are made, before the user is asked and again at apply, so
// that the screen, --yes and --fail-on have the same findings.
package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// Kind is the kind of a policy document; its apiVersion is [preview.APIVersion].
const Kind = "Policy"

// Limits on one policy file, for entries in number and for texts in bytes.
const (
	maxBytes      = 1 << 20
	maxRules      = 200
	maxEntries    = 2000 // waivers and severities
	maxExpression = 10_000
	maxText       = 1000
)

// document is the policy file as decoded.
type document struct {
	APIVersion string     `json:"apiVersion"`
	Kind       string     `json:"kind"`
	Rules      []Rule     `json:"rules"`
	Severities []Severity `json:"severities"`
	Waivers    []Waiver   `json:"waivers"`
}

// Rule is a CEL expression about the plan that must be true.
type Rule struct {
	Name string `json:"name"`
	// Expression is CEL over the variable plan, which is the plan as -o json prints it,
	// with a boolean as result. False makes a finding.
	Expression string `json:"expression"`
	// Message says what is wrong. MessageExpression is CEL with a string as result,
	// which replaces Message and can name parts of the plan.
	Message           string           `json:"message"`
	MessageExpression string           `json:"messageExpression"`
	Severity          preview.Severity `json:"severity"` // critical, warning or info
}

// Severity is a policy entry that changes the severity of a rule's findings.
type Severity struct {
	Rule     string           `json:"rule"`
	Object   string           `json:"object"` // pattern of object ids; empty for all
	Severity preview.Severity `json:"severity"`
	Reason   string           `json:"reason"`
}

// Waiver is an entry that turns findings into info until its last day. Either Finding
// or Rule is set.
type Waiver struct {
	Finding     string `json:"finding"` // id of one finding, RULE/OBJECT
	Rule        string `json:"rule"`    // or all findings of a rule
	Object      string `json:"object"`  // with Rule: pattern of object ids
	Fingerprint string `json:"fingerprint"`
	Owner       string `json:"owner"`
	Reason      string `json:"reason"`
	Expires     string `json:"expires"` // the last day, YYYY-MM-DD in UTC
}

// Policy is a parsed and compiled policy.
type Policy struct {
	path, sha256 string
	rules        []compiledRule
	severities   []Severity
	waivers      []waiver
	now          func() time.Time
}

type waiver struct {
	Waiver
	ends time.Time // from when on it no longer applies
}

// Load reads and compiles a policy file. now returns the present time, for the expiry of
// waivers.
func Load(path string, now func() time.Time) (*Policy, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading the policy: %w", err)
	}
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(io.LimitReader(file, maxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("reading the policy: %w", err)
	}
	p, err := Parse(data, now)
	if err != nil {
		return nil, fmt.Errorf("policy %s: %w", path, err)
	}
	p.path = path
	return p, nil
}

// Parse parses and compiles a policy. Unknown fields are errors, so that a misspelt
// waiver or rule is not ignored.
func Parse(data []byte, now func() time.Time) (*Policy, error) {
	if len(data) > maxBytes {
		return nil, fmt.Errorf("it is larger than the %d bytes that a policy may have", maxBytes)
	}
	doc, err := decode(data)
	if err != nil {
		return nil, err
	}
	if err := doc.check(); err != nil {
		return nil, err
	}
	p := &Policy{sha256: preview.HashBytes(data), severities: doc.Severities, now: now}
	for i, w := range doc.Waivers {
		day, err := time.Parse(time.DateOnly, w.Expires)
		if err != nil {
			return nil, fmt.Errorf("waivers[%d].expires %q: want a date such as 2027-01-31", i, w.Expires)
		}
		p.waivers = append(p.waivers, waiver{w, day.AddDate(0, 0, 1)})
	}
	p.rules, err = compile(doc.Rules)
	return p, err
}

func decode(data []byte) (document, error) {
	var doc document
	docs, err := preview.Decode(data)
	if err != nil {
		return doc, err
	}
	if len(docs) != 1 {
		return doc, fmt.Errorf("%d documents; want one", len(docs))
	}
	text, err := json.Marshal(docs[0])
	if err != nil {
		return doc, err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	err = decoder.Decode(&doc)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return doc, fmt.Errorf("%s: a %s, want %s", orTop(wrong.Field), wrong.Value, wrong.Type)
	}
	if err != nil {
		return doc, errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	return doc, nil
}

func orTop(field string) string {
	if field == "" {
		return "the top"
	}
	return field
}

func (d *document) check() error {
	if d.APIVersion != preview.APIVersion || d.Kind != Kind {
		return fmt.Errorf("apiVersion %q, kind %q: want %s, %s", d.APIVersion, d.Kind, preview.APIVersion, Kind)
	}
	if len(d.Rules) > maxRules || len(d.Severities)+len(d.Waivers) > maxEntries {
		return fmt.Errorf("more than %d rules, or %d severities and waivers", maxRules, maxEntries)
	}
	if err := d.checkRules(); err != nil {
		return err
	}
	for i, s := range d.Severities {
		at := fmt.Sprintf("severities[%d]", i)
		switch {
		case !isSeverity(s.Severity):
			return fmt.Errorf("%s.severity %q: want critical, warning or info", at, s.Severity)
		case strings.TrimSpace(s.Reason) == "":
			return fmt.Errorf("%s has no reason", at)
		case len(s.Reason)+len(s.Object) > maxText:
			return fmt.Errorf("%s is longer than %d letters", at, maxText)
		}
		if err := checkRule(at+".rule", s.Rule); err != nil {
			return err
		}
	}
	for i := range d.Waivers {
		if err := d.Waivers[i].check(); err != nil {
			return fmt.Errorf("waivers[%d]%w", i, err)
		}
	}
	return nil
}

var ruleName = lazyregexp.New(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)

func (d *document) checkRules() error {
	seen := map[string]bool{}
	for i, r := range d.Rules {
		switch {
		case !ruleName.MatchString(r.Name):
			return fmt.Errorf("rules[%d].name %q: want at most 63 of a-z, 0-9 and -", i, r.Name)
		case seen[r.Name]:
			return fmt.Errorf("rules[%d].name %q is there twice", i, r.Name)
		case strings.TrimSpace(r.Expression) == "":
			return fmt.Errorf("rule %s has no expression", r.Name)
		case strings.TrimSpace(r.Message) == "":
			return fmt.Errorf("rule %s has no message", r.Name)
		case len(r.Expression) > maxExpression || len(r.MessageExpression) > maxExpression || len(r.Message) > maxText:
			return fmt.Errorf("rule %s: an expression may have %d letters, a message %d", r.Name, maxExpression, maxText)
		case !isSeverity(r.Severity):
			return fmt.Errorf("rule %s: severity %q: want critical, warning or info", r.Name, r.Severity)
		}
		seen[r.Name] = true
	}
	return nil
}

var fingerprint = lazyregexp.New(`^sha256:[0-9a-f]{64}$`)

// check returns an error for an invalid waiver. Its text begins with the name of the
// field, to follow the waiver's name.
func (w *Waiver) check() error {
	for _, field := range [...]struct{ name, text string }{{"owner", w.Owner}, {"reason", w.Reason}, {"expires", w.Expires}} {
		if strings.TrimSpace(field.text) == "" {
			return fmt.Errorf(" has no %s", field.name)
		}
	}
	switch {
	case (w.Finding == "") == (w.Rule == ""):
		return errors.New(": want either finding, the id of one, or rule")
	case w.Finding != "" && w.Object != "":
		return errors.New(".object: the id of a finding names its object")
	case w.Finding != "" && !strings.Contains(w.Finding, "/"):
		return fmt.Errorf(".finding %q: want an id as the review prints it, RULE/OBJECT", w.Finding)
	case w.Fingerprint != "" && !fingerprint.MatchString(w.Fingerprint):
		return fmt.Errorf(".fingerprint %q: want sha256: and 64 hexadecimal digits", w.Fingerprint)
	case len(w.Owner)+len(w.Reason)+len(w.Object)+len(w.Finding) > 2*maxText:
		return fmt.Errorf(" is longer than %d letters", 2*maxText)
	}
	rule := w.Rule
	if w.Finding != "" {
		rule, _, _ = strings.Cut(w.Finding, "/")
	}
	return checkRule(".rule", rule)
}

// checkRule returns an error for a rule that does not exist, or that a policy may not
// change, such as that an object cannot be applied. at is the field for the message.
func checkRule(at, rule string) error {
	if _, known := rules.Named(rule); !known {
		text := ""
		if near := rules.Near(rule); len(near) > 0 {
			text = "; did you mean " + near[0] + "?"
		}
		return fmt.Errorf("%s %q: no rule is called that%s", at, rule, text)
	}
	switch rule {
	case rules.NotAppliable.Name, rules.Unknown.Name:
		return fmt.Errorf("%s %s: a policy cannot change that; what the API server refuses, or what could not be read, stays so", at, rule)
	case rules.PolicyWaiverExpired.Name:
		return fmt.Errorf("%s %s: renew or remove the waiver that has ended", at, rule)
	}
	return nil
}

func isSeverity(s preview.Severity) bool {
	return s == preview.Critical || s == preview.Warning || s == preview.Info
}
