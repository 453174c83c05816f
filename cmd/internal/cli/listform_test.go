package cli

import (
	"strings"
	"testing"
)

func TestAFormIsOneOfThoseOfTheList(t *testing.T) {
	own := []string{"text", "json"}
	all := append(own, listForms()...)
	for form, want := range map[string]struct{ own, all bool }{
		"text": {true, true}, "json": {true, true}, "name": {false, true}, "wide": {false, true},
		"jsonpath={.items}": {false, true}, "jsonpath=": {}, "jsonpath": {}, "name=x": {}, "yaml": {}, "": {},
	} {
		for _, of := range []struct {
			forms []string
			want  bool
		}{{own, want.own}, {all, want.all}} {
			err := checkListForm(form, of.forms)
			if (err == nil) != of.want || err != nil && !strings.Contains(err.Error(), "want text") {
				t.Errorf("-o %s of %v: error %v", form, of.forms, err)
			}
		}
	}
}
