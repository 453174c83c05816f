package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/planning"
	"github.com/kubectl-operator/kubectl-operator/cmd/internal/streams"
	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/preview/report"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
)

// jsonPathForm is the form that a template follows.
const jsonPathForm = "jsonpath="

// listForms returns the forms of "kubectl get" that a list has in addition to text and json.
func listForms() []string { return []string{"name", "wide", jsonPathForm} }

// checkListForm returns an error for a form that is not among those.
func checkListForm(form string, forms []string) error {
	name, _, follows := strings.Cut(form, "=")
	if slices.Contains(forms, form) && form != jsonPathForm || follows && form != jsonPathForm && slices.Contains(forms, name+"=") {
		return nil
	}
	return planning.Usagef("-o %s: want %s", form, report.OneOf(forms))
}

// printList prints a list: as a table with a header row and names in the first column, or as
// a document.
func printList(s *streams.Streams, form string, list any, rows [][]string) error {
	template, byPath := strings.CutPrefix(form, jsonPathForm)
	switch {
	case form == "json":
		data, err := json.MarshalIndent(list, "", "  ")
		if err != nil {
			return fmt.Errorf("writing JSON: %w", err)
		}
		_, err = s.Out.Write(append(textsafe.JSON(data), '\n'))
		return err
	case form == "name":
		for _, row := range rows[1:] {
			s.Printf("%s\n", textsafe.Line(row[0]))
		}
		return nil
	case byPath:
		text, err := k8s.JSONPath(template, list)
		if err == nil {
			_, err = s.Human().Write(text)
		}
		return err
	}
	return streams.Table(s.Human(), rows)
}
