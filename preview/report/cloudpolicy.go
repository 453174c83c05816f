package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/cloud"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
	"github.com/kubectl-operator/kubectl-operator/preview/review"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// writeCloudPolicy writes the policies and roles with which a cloud administrator
// grants what the plan asks for: a YAML stream of documents for the providers'
// tools, as JSON where they require it. Comments say how to use them and what is
// missing.
func writeCloudPolicy(w io.Writer, p *preview.Plan, _ Options) error {
	documents := cloud.Policies(p.Cloud)
	var out strings.Builder
	out.WriteString("# Cloud access of " + line(review.Title(p)) + "\n# review " + line(p.Digest) + "\n")
	if len(documents) == 0 {
		out.WriteString("# The package shows no access to a cloud.\n")
		if looked := review.CloudLookedAt(p); looked != "" {
			out.WriteString("# " + looked + "\n")
		}
	}
	out.WriteString("# What shows in no manifest is not here: EKS pod identity associations made outside the cluster,\n" +
		"# principals of GKE workload identity, and what the nodes' own roles permit.\n")
	for _, d := range documents {
		text, err := cloudDocument(d)
		if err != nil {
			return err
		}
		out.WriteString(text)
	}
	_, err := io.WriteString(w, out.String())
	return err
}

func cloudDocument(d cloud.Document) (string, error) {
	var out strings.Builder
	if d.Body != nil {
		out.WriteString("---\n")
	} else {
		out.WriteString("#\n")
	}
	out.WriteString("# " + line(words.Joined(", ", words.Joined(": ", words.Joined(" ", d.Provider, d.Origin), d.Title), d.Certainty)) + "\n")
	for _, note := range d.Notes {
		out.WriteString("#   " + line(note) + "\n")
	}
	if d.Body == nil {
		return out.String(), nil
	}
	if fields, ok := d.Body.(map[string]any); ok && d.YAML {
		return out.String() + diff.Manifest(fields), nil
	}
	var data bytes.Buffer
	encoder := json.NewEncoder(&data)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(d.Body); err != nil {
		return "", fmt.Errorf("writing %s: %w", d.Title, err)
	}
	return out.String() + string(textsafe.JSON(data.Bytes())), nil
}
