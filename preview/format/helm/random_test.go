package helm

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// Each function that reads a clock or a random source.
func TestAValueFromAClockOrARandomSourceIsFound(t *testing.T) {
	var templates, want []string
	for name, template := range map[string]string{
		"now":               `{{ now | date "2006-01-02" }}`,
		"now by the year":   `{{ now | date "2006" | quote }}`,
		"now by the month":  `{{ now | date "01" | quote }}`,
		"now by the day":    `{{ now | date "02" | quote }}`,
		"now by the hour":   `{{ now | date "15" | quote }}`,
		"now by the minute": `{{ now | date "04" | quote }}`,
		"unixEpoch":         `{{ now | unixEpoch | quote }}`,
		"ago":               `{{ ago 1700000000 }}`,
		"date of nothing":   `{{ date "2006-01-02" "" }}`,
		"htmlDate":          `{{ htmlDate now }}`,
		"dateInZone":        `{{ dateInZone "2006-01-02" now "Europe/Paris" }}`,
		"durationRound":     `{{ durationRound (now | dateModify "-1h") }}{{ now | unixEpoch }}`,
		"randAlphaNum":      `{{ randAlphaNum 1 | quote }}`,
		"randAlpha":         `{{ randAlpha 3 }}`,
		"randNumeric":       `{{ randNumeric 1 | quote }}`,
		"randAscii":         `{{ randAscii 8 | b64enc }}`,
		"randBytes":         `{{ randBytes 1 }}`,
		"randInt":           `{{ randInt 0 2 | quote }}`,
		"shuffle":           `{{ shuffle "ab" }}`,
		"uuidv4":            `{{ uuidv4 }}`,
		"genPrivateKey":     `{{ genPrivateKey "ed25519" | b64enc }}`,
		"genCA":             `{{ $ca := genCAWithKey "x" 1 (genPrivateKey "ed25519") }}{{ $ca.Cert | b64enc }}`,
		"a signed one":      `{{ $ca := genCAWithKey "x" 1 (genPrivateKey "ed25519") }}{{ (genSignedCertWithKey "y" nil nil 1 $ca (genPrivateKey "ed25519")).Cert | b64enc }}`,
		"bcrypt":            `{{ bcrypt "x" }}`,
		"htpasswd":          `{{ htpasswd "u" "x" }}`,
		"encryptAES":        `{{ encryptAES "01234567890123456789012345678901" "x" }}`,
		"in a template":     `{{ tpl "{{ uuidv4 }}" . }}`,
	} {
		object := strings.ToLower(strings.ReplaceAll(name, " ", "-"))
		templates = append(templates, "templates/"+object+".yaml", named(object, template))
		want = append(want, "core/ConfigMap/here/"+object+": .data.v comes from a clock or a random source: a second rendering gave another value")
	}
	// One chart with all of them: a rendering is a process.
	out := renderChart(t, input(chartOf(templates...)))
	got := notesOf(out.Notes, rules.Nondeterministic.Name)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestWhatFollowsFromTheContentAloneIsNotSuspected(t *testing.T) {
	var templates []string
	want := map[string]string{} // by the name of the object
	for name, c := range map[string]struct{ template, want string }{
		"a date that is given":  {`{{ dateInZone "2006-01-02 15:04" (toDate "2006-01-02" "2020-02-03") "UTC" }}`, "2020-02-03 00:00"},
		"a date in a zone":      {`{{ dateInZone "15:04" (toDate "2006-01-02" "2020-02-03") "America/New_York" | quote }}`, "19:00"},
		"an epoch":              {`{{ date "2006-01-02" 86400 }}`, "1970-01-02"},
		"a duration":            {`{{ durationRound "49h" }}`, "2d"},
		"derivePassword":        {`{{ derivePassword 1 "long" "a" "b" "c" }}`, "DacmHojo7!Fopu"},
		"the keys of a mapping": {`{{ keys (dict "c" 1 "a" 2 "b" 3 "d" 4) | join "" }}`, "abcd"},
		"its values":            {`{{ values (dict "c" 1 "a" 2 "b" 3) | join "" | quote }}`, "231"},
		"a checksum":            {`{{ sha256sum "x" | trunc 8 | quote }}`, "2d711642"},
		"random and not used":   {`{{ $x := randAlphaNum 8 }}{{ len $x }}x`, "8x"},
		"a shuffle of one":      {`{{ shuffle "x" }}`, "x"},
	} {
		object := strings.ToLower(strings.ReplaceAll(name, " ", "-"))
		templates = append(templates, "templates/"+object+".yaml", named(object, c.template))
		want[object] = c.want
	}
	out := renderChart(t, input(chartOf(templates...)))
	if got := notesOf(out.Notes, rules.Nondeterministic.Name); len(got) != 0 {
		t.Errorf("suspected: %q", got)
	}
	if len(out.Objects) != len(want) {
		t.Errorf("%d objects, want %d", len(out.Objects), len(want))
	}
	for _, o := range out.Objects {
		name := preview.String(o.Body, "metadata", "name")
		if got := preview.String(o.Body, "data", "v"); got != want[name] && name != "derivepassword" {
			t.Errorf("%s: got %q, want %q", name, got, want[name])
		}
	}
}

func TestANoteOfARandomSecretHoldsNoValue(t *testing.T) {
	out := renderChart(t, input(chartOf("templates/a.yaml",
		"apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {password: {{ randAlphaNum 24 | quote }}, user: admin}\n")))
	notes := notesOf(out.Notes, rules.Nondeterministic.Name)
	if len(notes) != 1 || !strings.HasPrefix(notes[0], "core/Secret/here/s: .stringData.password comes from") {
		t.Fatalf("got %q", notes)
	}
	if value := preview.String(out.Objects[0].Body, "stringData", "password"); len(value) != 24 || strings.Contains(notes[0], value) {
		t.Errorf("the value is %q", value)
	}
}

func TestAnObjectOfARandomNameIsToldAsAWhole(t *testing.T) {
	out := renderChart(t, input(chartOf("templates/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x-{{ randNumeric 5 }}}\n")))
	notes := notesOf(out.Notes, rules.Nondeterministic.Name)
	if len(notes) != 1 || !strings.Contains(notes[0], "a second rendering does not make this object") {
		t.Errorf("got %q", notes)
	}
}

func TestRandomValuesAreNeverTheSameTwice(t *testing.T) {
	seen := map[string]bool{}
	for range 5 {
		seen[value(t, "{{ randAlphaNum 20 }}", input(nil))] = true
	}
	if len(seen) != 5 {
		t.Errorf("only %d of 5", len(seen))
	}
}

func TestAListOfRandomValuesHasAsManyNotesAsAPersonReads(t *testing.T) {
	in := input(chartOf("templates/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata:\n{{ range until 500 }}  k{{ . }}: {{ randAlpha 9 }}\n{{ end }}"))
	notes := notesOf(renderChart(t, in).Notes, rules.Nondeterministic.Name)
	if len(notes) != 201 || !strings.Contains(notes[200], "300 more fields") {
		t.Errorf("%d notes, the last %q", len(notes), notes[len(notes)-1])
	}
}
