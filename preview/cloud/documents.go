package cloud

import (
	"path"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
)

// The beginnings of the places where a publisher writes about a package, and so of the
// origin of a policy there.
const (
	description = "the description of package "
	document    = "the document "
)

const (
	maxDocumentBytes = 1 << 20 // of one text
	maxStated        = 100     // policies of one text
)

// IsDocument reports whether a file of a package is one that is written for readers or
// their tools, by its name.
func IsDocument(file string) bool {
	return slices.Contains([]string{".md", ".markdown", ".adoc", ".txt", ".json", ".yaml", ".yml"}, strings.ToLower(path.Ext(file)))
}

// ReadDescription is [ReadDocument] for the description of a package, in Markdown.
func ReadDescription(pkg, text string) *preview.CloudDocument {
	return readText(description+pkg, ".md", text)
}

// ReadDocument returns the policies in a file that comes with a package, nil for none: in
// blocks of code and in files that these have a shell write, or the whole text if it is a
// data file; and the commands of such blocks that give a role. What does not state actions
// or roles in the form of a provider is no policy, whatever else it is.
func ReadDocument(pkg, file, text string) *preview.CloudDocument {
	return readText(document+file+" of package "+pkg, strings.ToLower(path.Ext(file)), text)
}

func readText(place, kind, text string) *preview.CloudDocument {
	if len(text) > maxDocumentBytes {
		return nil
	}
	out := &preview.CloudDocument{Place: place}
	for _, candidate := range candidates(kind, text) {
		for _, doc := range append(decoded(candidate), commands(candidate)...) {
			if !statesAccess(doc) || len(out.Documents) == maxStated {
				continue
			}
			if canonical, err := preview.Canonical(doc); err == nil && !slices.Contains(out.Documents, string(canonical)) {
				out.Documents = append(out.Documents, string(canonical))
			}
		}
	}
	if len(out.Documents) == 0 {
		return nil
	}
	return out
}

// fence matches the first line of a block of code in Markdown (CommonMark 0.31, 4.5),
// listing a block in AsciiDoc; heredoc the line that makes a shell write the next ones
// to a file.
var (
	fence   = lazyregexp.New("^[ \t>]*(```+|~~~+)[^`]*$")
	listing = lazyregexp.New("^(----+)[ \t]*$")
	heredoc = lazyregexp.New(`<<-?[ \t]*\\?["']?([A-Za-z_]+)["']?`)
)

// candidates returns the parts of a text that may be policies; kind is the suffix of its
// file.
func candidates(kind, text string) []string {
	begins := fence
	switch kind {
	case ".json", ".yaml", ".yml":
		return []string{text}
	case ".adoc":
		begins = listing
	}
	var out, block []string
	end := ""
	for line := range strings.Lines(text) {
		mark := begins.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		switch {
		case end == "" && mark != nil:
			end, block = mark[1], nil
		case end != "" && strings.HasPrefix(strings.TrimLeft(line, " \t>"), end):
			out = append(out, strings.Join(block, ""))
			out, end = append(out, written(block)...), ""
		case end != "":
			block = append(block, line)
		}
	}
	return out
}

// written returns what the lines of a shell write to files by here-documents.
func written(lines []string) []string {
	var out []string
	for i := 0; i < len(lines); i++ {
		mark := heredoc.FindStringSubmatch(lines[i])
		if mark == nil {
			continue
		}
		body := lines[i+1:]
		if n := slices.IndexFunc(body, func(line string) bool { return strings.TrimSpace(line) == mark[1] }); n >= 0 {
			out, i = append(out, strings.Join(body[:n], "")), i+1+n
		}
	}
	return out
}

// decoded returns the documents and the items of lists in a text, none if it is no data.
func decoded(text string) []map[string]any {
	docs, err := preview.Decode([]byte(text))
	if err != nil {
		return nil
	}
	var out []map[string]any
	for _, doc := range docs {
		switch doc := doc.(type) {
		case map[string]any:
			out = append(out, listed(doc)...)
		case []any:
			out = append(out, preview.Maps(map[string]any{"items": doc}, "items")...)
		}
	}
	return out
}

// action, permission, role and operation match how the providers write what is allowed.
var (
	action     = lazyregexp.New(`^(\*|[a-z0-9-]+:[A-Za-z*?]+)$`)
	permission = lazyregexp.New(`^[a-z]+\.[A-Za-z.]+\.[A-Za-z*]+$`)
	role       = lazyregexp.New(`^(roles|projects/[^/]+/roles|organizations/[^/]+/roles)/[A-Za-z0-9._]+$`)
	operation  = lazyregexp.New(`^(\*|[A-Za-z]+\.[A-Za-z.]+)/`)
)

// statesAccess reports whether a document is one of [readerOf] beyond doubt. Prose is full
// of data that only looks like it, such as a trust policy, which gives no access to a
// cloud.
func statesAccess(doc map[string]any) bool {
	ref := preview.RefOf(doc)
	switch {
	case ref.Kind != "" && ref.APIVersion != "":
		return readerOf(doc, "") != nil
	case doc["Statement"] != nil:
		list, whole := policyDocument(doc)
		return whole && statesActions(list)
	case doc["includedPermissions"] != nil:
		return allMatch(texts(doc["includedPermissions"]), permission)
	case doc["bindings"] != nil:
		var roles []string
		for _, binding := range preview.Maps(doc, "bindings") {
			roles = append(roles, preview.String(binding, "role"))
		}
		return allMatch(roles, role)
	case azureDefinition(doc) == nil:
		return commandOf(doc, "") != nil
	}
	var operations []string
	for _, set := range preview.Maps(azureDefinition(doc), "permissions") {
		operations = slices.Concat(operations, texts(set["actions"]), texts(set["dataActions"]))
	}
	return allMatch(operations, operation)
}

// statesActions reports whether statements of AWS belong to a policy for an identity:
// one with a principal is of a resource, or says who may assume a role.
func statesActions(list []map[string]any) bool {
	for _, statement := range list {
		effect := preview.String(statement, "Effect")
		actions := slices.Concat(texts(statement["Action"]), texts(statement["NotAction"]))
		if effect != allow && effect != "Deny" || statement["Principal"] != nil || statement["NotPrincipal"] != nil || !allMatch(actions, action) {
			return false
		}
	}
	return len(list) > 0
}

func allMatch(list []string, form interface{ MatchString(string) bool }) bool {
	return len(list) > 0 && !slices.ContainsFunc(list, func(text string) bool { return !form.MatchString(text) })
}

// documents adds what the documents of a package state, each with its place.
func (s *scanner) documents(list []preview.CloudDocument) {
	for _, document := range list {
		for _, text := range document.Documents {
			one := &scanner{}
			one.read(text, document.Place)
			s.take(one.out, document.Place)
		}
	}
}

// placed returns the origin of what stands in a document.
func placed(origin, place string) string {
	if strings.Contains(origin, place) {
		return origin
	}
	return origin + " in " + place
}

// inDocument reports whether an origin is in what a publisher wrote about the package.
func inDocument(origin string) bool {
	for _, place := range []string{description, document} {
		if strings.HasPrefix(origin, place) || strings.Contains(origin, " in "+place) {
			return true
		}
	}
	return false
}
