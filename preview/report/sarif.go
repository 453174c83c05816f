package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/review"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
	"github.com/kubectl-operator/kubectl-operator/preview/verdict"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// The parts of the Static Analysis Results Interchange Format that a report
// has: SARIF 2.1.0, OASIS standard, whose section numbers stand beside them.
type (
	sarifLog struct { // 3.13
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct { // 3.14
		Tool        sarifTool         `json:"tool"`
		Automation  sarifAutomation   `json:"automationDetails"`
		Invocations []sarifInvocation `json:"invocations"`
		ColumnKind  string            `json:"columnKind"`
		Results     []sarifResult     `json:"results"`
		Properties  map[string]any    `json:"properties"`
	}
	sarifAutomation struct { // 3.17
		ID string `json:"id"`
	}
	sarifTool struct { // 3.18
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct { // 3.19
		Name    string      `json:"name"`
		Version string      `json:"version,omitempty"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifInvocation struct { // 3.20
		Successful    bool                `json:"executionSuccessful"`
		Notifications []sarifNotification `json:"toolExecutionNotifications"`
	}
	sarifNotification struct { // 3.58
		Level   string       `json:"level"`
		Message sarifMessage `json:"message"`
	}
	sarifMessage struct { // 3.11
		Text     string `json:"text"`
		Markdown string `json:"markdown,omitempty"`
	}
	sarifRule struct { // 3.49
		ID       string         `json:"id"`
		Short    sarifMessage   `json:"shortDescription"`
		Full     sarifMessage   `json:"fullDescription"`
		Help     sarifMessage   `json:"help"`
		HelpURI  string         `json:"helpUri,omitempty"`
		Default  sarifDefault   `json:"defaultConfiguration"`
		Property map[string]any `json:"properties,omitempty"`
	}
	sarifDefault struct { // 3.50
		Level string `json:"level"`
	}
	sarifResult struct { // 3.27
		Rule         string            `json:"ruleId"`
		Index        int               `json:"ruleIndex"`
		Level        string            `json:"level"`
		Message      sarifMessage      `json:"message"`
		Locations    []sarifLocation   `json:"locations"`
		Fingerprints map[string]string `json:"partialFingerprints"`
		Properties   map[string]any    `json:"properties"`
	}
	sarifLocation struct { // 3.28
		Physical *sarifPhysical `json:"physicalLocation,omitempty"`
		Logical  []sarifLogical `json:"logicalLocations"`
	}
	sarifPhysical struct { // 3.29
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct { // 3.4
		URI string `json:"uri"`
	}
	sarifRegion struct { // 3.30
		StartLine int `json:"startLine"`
	}
	sarifLogical struct { // 3.33
		Name string `json:"fullyQualifiedName"`
		Kind string `json:"kind"`
	}
)

// fingerprintKey is the name under which results carry their fingerprint. It contains
// the version of how the fingerprint is computed (3.27.17).
const fingerprintKey = "kubectlOperatorFinding/v1"

func writeSARIF(w io.Writer, p *preview.Plan, _ Options) error {
	data, err := sarif(p)
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}

// sarif returns a log with one run: the rules that have findings, a result for each
// finding, and a notification for each object that could not be read.
func sarif(p *preview.Plan) ([]byte, error) {
	changes := []string{}
	for _, h := range verdict.For(p).Changes {
		changes = append(changes, h.Topic+" "+h.Text)
	}
	r := review.NewReader(p)
	described, index := sarifRules(p, r)
	run := sarifRun{
		Tool:        sarifTool{Driver: sarifDriver{Name: "kubectl-operator", Version: p.Tool.Version, Rules: described}},
		Automation:  sarifAutomation{ID: "kubectl-operator/" + p.Release.Namespace + "/" + p.Release.Name + "/"},
		Invocations: []sarifInvocation{{Successful: true, Notifications: []sarifNotification{}}},
		ColumnKind:  "unicodeCodePoints",
		Results:     []sarifResult{},
		Properties: map[string]any{
			"verdict": verdict.For(p).Sentence, "obstacles": len(verdict.For(p).Obstacles), "cannotBeApplied": review.ObstacleTexts(p),
			"changes": changes, "cloud": review.CloudTexts(p), "digest": p.Digest, "contentDigest": p.ContentDigest, "ruleset": p.Ruleset,
			"readMode": p.ReadMode, "complete": p.Complete, "command": review.ApplyCommand(p),
		},
	}
	for _, u := range p.Unknowns {
		run.Invocations[0].Notifications = append(run.Invocations[0].Notifications,
			sarifNotification{Level: "warning", Message: sarifText(rules.Unknown.Title + ": " + u.Object + ": " + u.Why)})
	}
	for _, f := range p.Findings {
		run.Results = append(run.Results, sarifResultOf(p, f, index[f.Rule], r))
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(sarifLog{
		Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run},
	}); err != nil {
		return nil, fmt.Errorf("encoding SARIF: %w", err)
	}
	return textsafe.JSON(out.Bytes()), nil
}

// sarifRules returns the descriptions of the rules that have findings, sorted by name,
// and the index of each by name.
func sarifRules(p *preview.Plan, r *review.Reader) ([]sarifRule, map[string]int) {
	var names []string
	for _, f := range p.Findings {
		names = append(names, f.Rule)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	described, index := make([]sarifRule, 0, len(names)), map[string]int{}
	for i, name := range names {
		index[name] = i
		page, known := r.Book[name]
		if !known {
			text := sarifText("Rule " + name + " is not one of this version.")
			described = append(described, sarifRule{ID: name, Short: text, Full: text, Help: text, Default: sarifDefault{"warning"}})
			continue
		}
		help := sarifText("Looks at: " + page.Looks + " Severity: " + page.When + " To reduce it: " + page.Reduce +
			" More: " + review.ExplainCommand(name))
		help.Markdown = "**Looks at** " + prose(page.Looks) + "\n\n**Why** " + prose(page.Why) + "\n\n**Severity** " + prose(page.When) +
			"\n\n**To reduce it** " + prose(page.Reduce) + "\n\n" + code(review.ExplainCommand(name))
		rule := sarifRule{
			ID: name, Short: sarifText(strings.ToUpper(page.Title[:1]) + page.Title[1:]), Full: sarifText(page.Why), Help: help,
			HelpURI: page.Source, Default: sarifDefault{sarifLevel(page.Severity)},
		}
		if page.Ref != "" {
			rule.Property = map[string]any{"ref": page.Ref, "tags": []string{"security"}}
		}
		described = append(described, rule)
	}
	return described, index
}

func sarifResultOf(p *preview.Plan, f preview.Finding, rule int, r *review.Reader) sarifResult {
	text := f.Title + ". " + f.Why
	if pieces := f.Shown(); len(pieces) > 0 {
		text += " Evidence: " + sarifEvidence(pieces)
	}
	result := sarifResult{
		Rule: f.Rule, Index: rule, Level: sarifLevel(f.Severity), Message: sarifText(text),
		Locations:    []sarifLocation{{Logical: []sarifLogical{{Name: f.Object, Kind: "resource"}}}},
		Fingerprints: map[string]string{fingerprintKey: f.Fingerprint},
		Properties:   map[string]any{"id": f.ID, "severity": f.Severity},
	}
	if f.AcceptedIn > 0 {
		result.Properties["acceptedIn"] = f.AcceptedIn
	}
	if f.AlsoIn != "" {
		result.Properties["alsoIn"] = f.AlsoIn
	}
	if f.Judged != nil {
		result.Properties["judged"] = f.Judged
	}
	if origin := r.Origin(f); origin != nil {
		physical := &sarifPhysical{Artifact: sarifArtifact{URI: sarifURI(p, f, origin.File, r)}}
		if origin.Line > 0 {
			physical.Region = &sarifRegion{StartLine: origin.Line}
		}
		result.Locations[0].Physical = physical
		result.Properties["document"] = origin.Document
	}
	return result
}

// sarifURI returns the path of a finding's file relative to the working directory, so
// that a review system finds it in the change, if the content is a directory below
// that; else relative to the content.
func sarifURI(p *preview.Plan, f preview.Finding, file string, r *review.Reader) string {
	for _, pkg := range p.Packages {
		if pkg.Name != r.Object(f.Object).Package || len(pkg.Sources) == 0 {
			continue
		}
		reference := pkg.Sources[0].Reference
		if pkg.Sources[0].Kind == "directory" && reference != "" && !path.IsAbs(reference) && !strings.HasPrefix(path.Clean(reference), "..") {
			file = path.Join(reference, file)
		}
	}
	// Clean, so that no reader is led out of the content; a colon in the first
	// part would be read as a scheme (RFC 3986, 4.2).
	uri := (&url.URL{Path: strings.TrimPrefix(path.Clean("/"+file), "/")}).EscapedPath()
	first, rest, _ := strings.Cut(uri, "/")
	if strings.Contains(first, ":") {
		return strings.TrimSuffix(strings.ReplaceAll(first, ":", "%3A")+"/"+rest, "/")
	}
	return uri
}

// sarifLevel returns the SARIF level of a severity: error, warning or note (3.27.10).
func sarifLevel(s preview.Severity) string {
	switch s {
	case preview.Critical:
		return "error"
	case preview.Info:
		return "note"
	}
	return "warning"
}

// maxMessage is the most cells of a message; readers of SARIF show no more.
const maxMessage = 4000

// maxSarifEvidence is the most bytes of evidence in a message, which leaves room for the
// text around it.
const maxSarifEvidence = maxMessage * 3 / 4

// sarifEvidence returns the first pieces of evidence that fit into a message, and the
// number of the others.
func sarifEvidence(pieces []preview.Piece) string {
	size := 0
	for i, piece := range pieces {
		if size += len(piece.Text) + len(preview.EvidenceMark); size > maxSarifEvidence && i > 0 {
			return preview.EvidenceText(pieces[:i]) + preview.EvidenceMark + words.EvidenceRest(pieces[i:], evidenceInJSON)
		}
	}
	return preview.EvidenceText(pieces)
}

// sarifText returns untrusted text as a message. Brackets and backslashes, which would make
// a link (3.11.6), and braces, which would make a placeholder (3.11.5), are escaped.
func sarifText(s string) sarifMessage {
	text := textsafe.Clip(s, maxMessage)
	return sarifMessage{Text: strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`, `{`, `{{`, `}`, `}}`).Replace(text)}
}
