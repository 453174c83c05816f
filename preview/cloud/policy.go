package cloud

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Document is a policy or role definition for a cloud administrator. Its texts
// come from outside and are not escaped.
type Document struct {
	Provider, Origin string
	Title            string   // what it is, in our words
	Notes            []string // how to use it, and what could not be derived; a line each
	// Body is the input of the provider's tool, nil when nothing can be
	// derived: JSON of an AWS policy or an Azure role definition, or the
	// YAML of a Google Cloud role or of a list of role names.
	Body any
	YAML bool
}

// Policies returns the documents with which a cloud administrator can grant the
// planned cloud access, sorted by provider and origin. A document never permits
// more than was requested: what a provider would not accept is left out and
// reported. If that is a denial, the whole document is left out.
func Policies(c preview.Cloud) []Document {
	var out []Document
	names := map[string]bool{}
	for _, group := range byRequest(c.Permissions) {
		g := &permissionRequest{provider: group[0].Provider, origin: group[0].Origin, name: uniqueName(group[0].Origin, names)}
		out = append(out, g.documents(group)...)
	}
	for _, provider := range declaredProviders(c) {
		d := Document{Provider: provider, Title: "shows without actions: nothing can be derived from it"}
		for _, declared := range c.Declared {
			if declared.Provider == provider {
				d.Notes = append(d.Notes, declared.Origin)
			}
		}
		out = append(out, d)
	}
	return out
}

// byRequest groups permissions, sorted by provider and origin. Permissions that an
// upgrade removes are left out.
func byRequest(list []preview.CloudPermission) [][]preview.CloudPermission {
	kept := slices.DeleteFunc(slices.Clone(list), func(p preview.CloudPermission) bool { return p.Change == preview.GrantRemoved })
	slices.SortStableFunc(kept, compare)
	var out [][]preview.CloudPermission
	for i, p := range kept {
		if i == 0 || p.Provider != kept[i-1].Provider || p.Origin != kept[i-1].Origin {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], p)
	}
	return out
}

func declaredProviders(c preview.Cloud) []string {
	var out []string
	for _, d := range c.Declared {
		out = append(out, d.Provider)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// permissionRequest has the permissions that one origin requests from one
// provider.
type permissionRequest struct {
	provider, origin, name string
	notes                  []string // about the documents as a whole
}

func (r *permissionRequest) documents(list []preview.CloudPermission) []Document {
	r.kind()
	var granted []preview.CloudPermission
	for _, p := range list {
		if IsIdentity(p) {
			r.notes = append(r.notes, "acts as "+strings.Join(p.Roles, ", ")+": what that may do is decided in the cloud")
			continue
		}
		granted = append(granted, p)
	}
	if len(granted) == 0 {
		return []Document{r.document("an identity; nothing can be derived from it", nil)}
	}
	switch r.provider {
	case AWS:
		return r.aws(granted)
	case GCP:
		return r.gcp(granted)
	case Azure:
		return r.azure(granted)
	}
	return []Document{r.plainText(granted)}
}

// kind returns who creates the grant in the cloud for an origin.
func (r *permissionRequest) kind() {
	switch {
	case strings.HasPrefix(r.origin, credential+"/") && strings.Contains(r.origin, " in "):
		r.notes = append(r.notes, "an example or template: what the operator asks for when it runs may differ")
	case strings.HasPrefix(r.origin, credential+"/") && (r.provider == AWS || r.provider == GCP):
		r.notes = append(r.notes, "the cloud-credential-operator makes this itself in mint mode; in passthrough mode it hands out the cluster's own, wider credential")
	case strings.HasPrefix(r.origin, credential+"/"):
		r.notes = append(r.notes, "the cloud-credential-operator in passthrough mode hands out the cluster's own, wider credential")
	case !strings.HasPrefix(r.origin, "ServiceAccount/"):
		r.notes = append(r.notes, "a controller makes this in the cloud when the object is applied; it is here to be reviewed")
	}
}

func (r *permissionRequest) document(title string, body any) Document {
	return Document{Provider: r.provider, Origin: r.origin, Title: title, Notes: slices.Clone(r.notes), Body: body}
}

// plainText returns the permissions as words, for a provider without a document
// format.
func (r *permissionRequest) plainText(list []preview.CloudPermission) Document {
	d := r.document("to be granted with the provider's own tools", nil)
	for _, p := range list {
		if len(p.Actions) == 1 && p.Actions[0] == all {
			d.Notes = append(d.Notes, "the request names no limit: make a credential of its own that can do no more than the operator needs")
			continue
		}
		text := p.Effect
		for _, part := range []struct {
			word string
			list []string
		}{{"actions ", p.Actions}, {"roles ", p.Roles}, {"where ", p.Resources}} {
			if len(part.list) > 0 {
				text += " " + part.word + strings.Join(part.list, ", ")
			}
		}
		d.Notes = append(d.Notes, text)
	}
	return d
}

var notInNames = regexp.MustCompile(`[^A-Za-z0-9]+`)

const maxName = 56 // with a number behind it, below the least of the providers: 64 for the id of a Google Cloud role

// uniqueName returns a name made from an origin that is valid for every provider.
func uniqueName(origin string, taken map[string]bool) string {
	name := strings.ToLower(strings.Trim(notInNames.ReplaceAllString(origin, "-"), "-"))
	if name == "" || len(name) > maxName || taken[name] {
		_, digest, _ := strings.Cut(preview.HashBytes([]byte(origin)), ":")
		name = strings.Trim(name[:min(len(name), maxName-9)]+"-"+digest[:8], "-")
	}
	taken[name] = true
	return name
}

// numbered returns the name of the n-th of several documents, from 0.
func numbered(name string, n int) string {
	if n == 0 {
		return name
	}
	return name + "-" + strconv.Itoa(n+1)
}

// placeholders matches template markers that other tools leave to be filled in.
// IAM's own variables have a colon.
var placeholders = regexp.MustCompile(`\$\{[^}:]*\}|\$\([^)]*\)|\{\{[^}]*\}\}|<[^<>]+>`)

func placeholderNotes(list ...[]string) []string {
	var found []string
	for _, texts := range list {
		for _, text := range texts {
			found = append(found, placeholders.FindAllString(text, -1)...)
		}
	}
	slices.Sort(found)
	if found = slices.Compact(found); len(found) == 0 {
		return nil
	}
	return []string{"fill in before use: " + strings.Join(found, ", ")}
}

// partition splits a list by what a pattern matches.
func partition(list []string, pattern *regexp.Regexp) (good, bad []string) {
	for _, item := range list {
		if pattern.MatchString(item) {
			good = append(good, item)
		} else {
			bad = append(bad, item)
		}
	}
	return good, bad
}

func omittedNote(what string, list []string) []string {
	if len(list) == 0 {
		return nil
	}
	return []string{"left out, as the provider would not accept it: " + what + " " + strings.Join(list, ", ")}
}
