package planning

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
)

// forgottenOptions says of the fields of [Options] that are not remembered why no plan
// takes them from a record.
var forgottenOptions = map[string]string{
	"Source.RegistryConfig":          thisMachine,
	"Source.CacheDir":                thisMachine,
	"Source.CAFile":                  "what is trusted is for the person who plans to say",
	"Source.PlainHTTP":               "what is trusted is for the person who plans to say",
	"Source.InsecureRegistries":      "what is trusted is for the person who plans to say",
	"Source.PrivateAddresses":        "what is trusted is for the person who plans to say",
	"Source.PullSecrets":             "a record does not choose which Secrets are read, and sent to a registry",
	"Source.SetsAlone":               "it is of the command",
	"LooksOnly":                      "it is of the command",
	"Owners.AppliedBy":               "it is of the command",
	"Cloud.Policies":                 "each version of a package needs its own, which the recorded one is compared with",
	"Signatures.Mode":                "what is trusted is for the person who plans to say",
	"Signatures.Signer.Key":          "what is trusted is for the person who plans to say",
	"Signatures.Signer.Identity":     "what is trusted is for the person who plans to say",
	"Signatures.Signer.Issuer":       "what is trusted is for the person who plans to say",
	"Signatures.Signer.TrustedRoot":  "what is trusted is for the person who plans to say",
	"Selection.Version":              "an upgrade is to another version",
	"Selection.Channel":              "Upgrade takes it from the step through the catalog",
	"Selection.Catalogs":             "Upgrade takes it from the step through the catalog, if the configuration has that catalog",
	"Selection.channels":             "of a request file",
	"Selection.bundle":               "of a request file",
	"Selection.policy":               "of a request file",
	"Selection.Selector":             "of a request file",
	"Selection.CatalogSource":        "of a request file",
	"Render.AskMode":                 thisRun,
	"Render.KubeVersion":             clusterNow,
	"Render.APIVersions":             clusterNow,
	"Read.Offline":                   thisRun,
	"Read.Mode":                      thisRun,
	"Owners.Adopt":                   "what was adopted is the release's own; other objects are adopted when that is asked for",
	"Owners.OnFailure":               thisRun,
	"Requests.CrossNamespaceSecrets": "a record does not choose which Secrets are read",
	"Requests.Stdin":                 thisRun,
	"Policy.Path":                    "what is judged is for the person who plans to say",
	"Policy.Configured":              "what is judged is for the person who plans to say",
	"Records.Approvers":              thisMachine,
	"Records.Key":                    thisMachine,
	"Records.Signs":                  thisRun,
	"Remember.Reset":                 thisRun,
	"Remember.DefaultValues":         thisRun,
	"Remember.Given":                 thisRun,
	"Approved":                       thisRun,
	"StageTimeout":                   thisRun,
	"Expires":                        thisRun,
}

const (
	thisMachine = "it is of this machine"
	thisRun     = "it is of this run"
	clusterNow  = "what the cluster serves is asked each time"
)

// An option that no row knows would be lost by an upgrade, without a word.
func TestEveryOptionIsRememberedOrForgottenForAReason(t *testing.T) {
	rows := map[string]bool{}
	for _, row := range rememberedOptions() {
		for _, field := range row.fields {
			rows[field] = true
		}
	}
	fields := map[string]bool{}
	var walk func(reflect.Type, string)
	walk = func(of reflect.Type, path string) {
		for i := range of.NumField() {
			f := of.Field(i)
			name := strings.TrimPrefix(path+"."+f.Name, ".")
			if f.Type.Kind() == reflect.Struct && f.Type.PkgPath() == of.PkgPath() || name == "Signatures.Signer" {
				walk(f.Type, name)
				continue
			}
			fields[name] = true
		}
	}
	walk(reflect.TypeFor[Options](), "")
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if rows[name] == (forgottenOptions[name] != "") {
			t.Errorf("%s: want a row in rememberedOptions, or a reason in forgottenOptions, and one of them", name)
		}
	}
	for name := range rows {
		if !fields[name] {
			t.Errorf("the row of %s is of no option", name)
		}
	}
	for name := range forgottenOptions {
		if !fields[name] {
			t.Errorf("the reason of %s is of no option", name)
		}
	}
}

// Each option that is remembered is tried against a cluster, by the script that names it.
func TestEveryRememberedOptionIsInTheScript(t *testing.T) {
	script, err := os.ReadFile(filepath.Join("..", "..", "..", "testdata", "script", "shared", "optionlist.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rememberedOptions() {
		if row.flag == variableOption { // of request files alone, see the tests of kustomizations
			continue
		}
		given := regexp.MustCompile(`(?m)^exec kubectl-operator install .*--` + row.flag + `\b`)
		shown := regexp.MustCompile(`(?m)^stdout '.*--` + row.flag + `\b`)
		if row.flag == setFlag {
			shown = regexp.MustCompile(`(?m)^stdout 'kept .*size=3`)
		}
		if !given.Match(script) || !shown.Match(script) {
			t.Errorf("optionlist.txtar does not install with --%s and look for it afterwards", row.flag)
		}
	}
}

// Each field of the settings has a row, and comes back from a record as it was.
func TestSettingsSurviveTheRecord(t *testing.T) {
	full := settings{
		installMode: "SingleNamespace", watchNamespaces: []string{"a"}, certs: "none",
		values:    map[string]any{"a": map[string]any{"b.c": int64(9007199254740993), "none": map[string]any{}}, "list": []any{"x", nil}, "empty": "", "null": nil},
		variables: map[string]any{"REGION": "eu"}, format: "helm", path: "deploy", platform: "linux/arm64", pinImages: true, conflicts: "leave", conflictsOf: values1("core/ConfigMap/n/a", "take"), strict: true,
	}
	for _, row := range rememberedOptions() {
		if isEmpty(row.of(&full)) {
			t.Errorf("%s is not in this test", row.flag)
		}
	}
	if rows, fields := len(rememberedOptions()), reflect.TypeFor[settings]().NumField()-1; rows != fields {
		t.Errorf("%d rows for %d fields", rows, fields) // withheld is about values
	}
	kept, err := full.release()
	if err != nil {
		t.Fatal(err)
	}
	back, err := settingsOf(kept, preview.Parameters{InstallMode: "SingleNamespace", WatchNamespaces: []string{"a"}, Certs: "none"})
	if err != nil {
		t.Fatal(err)
	}
	back.withheld = nil
	if !reflect.DeepEqual(*back, full) {
		t.Errorf("settings = %#v, want %#v", *back, full)
	}
}

// short writes settings with what differs from none.
func short(s settings) string {
	var out []string
	for _, row := range rememberedOptions() {
		switch at := row.of(&s).(type) {
		case *map[string]any:
			for _, v := range leavesOf(*at) {
				out = append(out, v.Path()+"="+v.JSON)
			}
		default:
			if !isEmpty(at) {
				out = append(out, row.flag+" "+optionText(at))
			}
		}
	}
	return strings.Join(out, ", ")
}

func values1(pairs ...any) map[string]any {
	out := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i].(string)] = pairs[i+1]
	}
	return out
}

func TestWhatAPlanStartsFrom(t *testing.T) {
	was := func() *settings {
		return &settings{
			installMode: "SingleNamespace", watchNamespaces: []string{"a"}, certs: "none", values: values1("size", int64(3), "more", values1("x", "y")),
			format: "helm", path: "deploy", platform: "linux/arm64", pinImages: true, conflicts: "leave", strict: true,
		}
	}
	const all = `install-mode SingleNamespace, watch-namespace a, certs none, more.x="y", size=3, format helm, path deploy, pin-images true, platform linux/arm64, conflicts leave, strict true`
	for name, tt := range map[string]struct {
		before *settings
		asked  asked
		given  string // flags
		want   string
	}{
		"a new release":                                {nil, asked{settings: settings{certs: "none"}}, "certs", "certs none"},
		"nothing asked for":                            {was(), asked{}, "", all},
		"a value more, and one changed":                {was(), asked{settings: settings{values: values1("size", int64(5), "more", values1("z", true))}}, "set", strings.Replace(all, `"y", size=3`, `"y", more.z=true, size=5`, 1)},
		"the values from the defaults":                 {was(), asked{defaults: true}, "", strings.Replace(all, ` more.x="y", size=3,`, "", 1)},
		"the values from the defaults, but one":        {was(), asked{defaults: true, settings: settings{values: values1("size", int64(9))}}, "set", strings.Replace(all, `more.x="y", size=3`, "size=9", 1)},
		"all from the defaults":                        {was(), asked{reset: true}, "", ""},
		"all from the defaults, but one":               {was(), asked{reset: true, settings: settings{values: values1("size", int64(9))}}, "set", "size=9"},
		"a switch turned off":                          {was(), asked{}, "pin-images", strings.Replace(all, " pin-images true,", "", 1)},
		"the default, by its flag":                     {was(), asked{}, "conflicts", strings.Replace(all, " conflicts leave,", "", 1)},
		"another mode goes without the old namespaces": {was(), asked{settings: settings{installMode: "AllNamespaces"}}, "install-mode", strings.Replace(all, "SingleNamespace, watch-namespace a", "AllNamespaces", 1)},
		"another namespace leaves the mode open":       {was(), asked{settings: settings{watchNamespaces: []string{"b"}}}, "watch-namespace", strings.Replace(all, "install-mode SingleNamespace, watch-namespace a", "watch-namespace b", 1)},
		"a value says what is watched":                 {was(), asked{settings: settings{values: values1("watchNamespace", "b")}}, "set", `certs none, more.x="y", size=3, watchNamespace="b", format helm, path deploy, pin-images true, platform linux/arm64, conflicts leave, strict true`},
		"a file says all that it can":                  {was(), asked{file: true, settings: settings{values: values1("size", int64(7))}}, "", "size=7, platform linux/arm64, conflicts leave, strict true"},
		"a file, and a flag beside it":                 {was(), asked{file: true, settings: settings{conflicts: "take"}}, "conflicts", "platform linux/arm64, conflicts take, strict true"},
	} {
		tt.asked.given = func(flag string) bool { return slices.Contains(strings.Fields(tt.given), flag) }
		got, missing := tt.asked.startFrom(tt.before)
		if short(got) != tt.want || len(missing) > 0 {
			t.Errorf("%s: %s, missing %v\nwant %s", name, short(got), missing, tt.want)
		}
	}
	// What is decided of one object adds to the record; a choice for all replaces it.
	one := func(id string) map[string]any { return values1(id, "take") }
	decided := asked{settings: settings{conflictsOf: one("core/ConfigMap/n/b")}, given: func(string) bool { return false }}
	if got, _ := decided.startFrom(&settings{conflictsOf: one("core/ConfigMap/n/a")}); len(got.conflictsOf) != 2 {
		t.Errorf("decided is %v", got.conflictsOf)
	}
	if got, _ := decided.startFrom(&settings{}); len(got.conflictsOf) != 1 {
		t.Errorf("decided first is %v", got.conflictsOf)
	}
	decided.given = func(flag string) bool { return flag == conflictsFlag }
	if got, _ := decided.startFrom(&settings{conflictsOf: one("core/ConfigMap/n/a")}); len(got.conflictsOf) != 1 {
		t.Errorf("decided for all, and of one is left %v", got.conflictsOf)
	}
	// Without a command line, what is not empty was given.
	a := asked{settings: settings{conflicts: "take"}}
	if got, _ := a.startFrom(was()); got.conflicts != "take" || got.certs != "none" {
		t.Errorf("without flags: %s", short(got))
	}
	before := was()
	if _, _ = (&asked{settings: settings{values: values1("more", values1("x", "z"))}}).startFrom(before); short(*before) != all {
		t.Errorf("the options of the record became %s", short(*before))
	}
}

// Records hold no secrets: those are given again, or all values are dropped.
func TestSecretValuesAreGivenAgain(t *testing.T) {
	was := &settings{values: values1("size", int64(3)), withheld: map[string]bool{"db.password": true, "a.b/c.token": true}}
	for name, tt := range map[string]struct {
		asked asked
		want  string
	}{
		"none":                      {asked{}, "a.b/c.token db.password"},
		"one":                       {asked{settings: settings{values: values1("db", values1("password", "x"))}}, "a.b/c.token"},
		"one whose key has dots":    {asked{settings: settings{values: values1("a.b/c", values1("token", "x"))}}, "db.password"},
		"what it was in":            {asked{settings: settings{values: values1("db", "none", "a", values1("b/c", values1("token", "x")))}}, ""},
		"another of the same place": {asked{settings: settings{values: values1("db", values1("user", "x"))}}, "a.b/c.token db.password"},
		"from the defaults":         {asked{defaults: true}, ""},
		"reset":                     {asked{reset: true}, ""},
		"a file":                    {asked{file: true}, ""},
	} {
		if _, missing := tt.asked.startFrom(was); strings.Join(missing, " ") != tt.want {
			t.Errorf("%s: missing %v, want %s", name, missing, tt.want)
		}
	}
}

func TestNoSecretIsInAPlan(t *testing.T) {
	s := settings{
		values: values1("db", values1("password", "hunter2", "existingSecret", "db", "secretName", "db", "user", "app", "port", int64(1)),
			"env", []any{values1("name", "API_TOKEN", "value", "hunter2")}, "createSecret", true, "word", "rosebud", "words", []any{"rosebud"}, "pin", values1("secret", int64(7))),
		variables: map[string]any{"TOKEN": "hunter2", "REGION": "eu"},
	}
	s.withhold(map[string]bool{"rosebud": true}, false)
	kept, err := s.release()
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("%+v", *kept)
	for _, secret := range []string{"hunter2", "rosebud"} {
		if strings.Contains(text, secret) {
			t.Errorf("%s is in %s", secret, text)
		}
	}
	want := "db.password env pin.secret variables.TOKEN word words"
	if got := strings.Join(slices.Sorted(maps.Keys(s.withheld)), " "); got != want {
		t.Errorf("withheld are %s, want %s", got, want)
	}
	for _, change := range optionChanges(&settings{values: values1("db", values1("password", "before"))}, &s, &format.Defaults{Params: format.Params{Values: values1("db", values1("password", "standard"))}}) {
		if line := change.Text(); strings.Contains(line, "hunter2") || strings.Contains(line, "rosebud") || strings.Contains(line, "before") || strings.Contains(line, "standard") {
			t.Errorf("a line says %s", line)
		}
	}
	s.withhold(nil, true)
	if got := strings.Join(slices.Sorted(maps.Keys(s.withheld)), " "); got != "createSecret db env pin variables.REGION variables.TOKEN word words" {
		t.Errorf("of a request with values from a Secret, withheld are %s", got)
	}
}

func TestWhatIsSaidOfOptions(t *testing.T) {
	defaults := &format.Defaults{
		Params: format.Params{InstallMode: "AllNamespaces", Certs: "cert-manager", Values: values1("size", int64(2), "same", "s", "more", values1())},
		Known:  func(keys []string) bool { return keys[0] != "gone" },
	}
	before := &settings{installMode: "OwnNamespace", certs: "cert-manager", values: values1("size", int64(3), "same", "s", "gone", true, "more", values1("x", int64(1), "y", int64(1))), conflicts: "leave", conflictsOf: values1("core/Secret/n/a", "take"), withheld: map[string]bool{"db.password": true}}
	after := &settings{installMode: "OwnNamespace", certs: "cert-manager", values: values1("size", int64(3), "same", "s", "gone", true, "more", values1("x", int64(2)), "db", values1("password", "hunter2")), strict: true}
	var got []string
	for _, c := range optionChanges(before, after, defaults) {
		got = append(got, c.Change+" "+c.Text())
	}
	want := []string{
		"dropped more.y=1", "dropped --conflicts leave", "dropped --conflicts core/Secret/n/a=take", "changed more.x=1 -> 2", "set --strict true",
		"not known gone=true, and the package has no such value: it may be without effect; upgrade with --values-from-defaults drops all values",
		"kept --install-mode OwnNamespace; the default is AllNamespaces", "kept db.password, which is secret and not put on record", "kept size=3; the default is 2",
	}
	if !slices.Equal(got, want) {
		t.Errorf("said is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	got = nil
	for _, c := range optionChanges(before, after, nil) {
		got = append(got, c.Change+" "+c.Text())
	}
	if want := []string{"dropped more.y=1", "dropped --conflicts leave", "dropped --conflicts core/Secret/n/a=take", "changed more.x=1 -> 2", "set --strict true"}; !slices.Equal(got, want) {
		t.Errorf("of a rollback is said\n%s", strings.Join(got, "\n"))
	}
}

// What others wrote into a record is refused with what to do, and needed by no plan
// that leaves it out.
func TestCorruptOptionsAreRefused(t *testing.T) {
	for name, options := range map[string]*preview.ReleaseOptions{
		"a value that is no JSON":         {Values: []preview.SetValue{{Keys: []string{"a"}, JSON: "{"}}},
		"two values":                      {Values: []preview.SetValue{{Keys: []string{"a"}, JSON: "1,2"}}},
		"a value without a name":          {Values: []preview.SetValue{{JSON: "1"}}},
		"a value that is and is not":      {Values: []preview.SetValue{{Keys: []string{"a"}, JSON: "1", Withheld: true}}},
		"a value twice":                   {Values: []preview.SetValue{{Keys: []string{"a"}, JSON: "1"}, {Keys: []string{"a"}, JSON: "2"}}},
		"a value below one":               {Values: []preview.SetValue{{Keys: []string{"a"}, JSON: "1"}, {Keys: []string{"a", "b"}, JSON: "2"}}},
		"a variable below one":            {Variables: []preview.SetValue{{Keys: []string{"a"}, JSON: "1"}, {Keys: []string{"a", "b"}, JSON: "2"}}},
		"conflicts that are no choice":    {Conflicts: "steal"},
		"conflicts that are a rollback's": {Conflicts: "own"},
		"a decision about no object":      {ConflictsOf: map[string]string{"x": "take"}},
		"a decision that is none":         {ConflictsOf: map[string]string{"core/ConfigMap/n/a": "own"}},
		"a platform that is a flag":       {Platform: "--plain-http"},
		"several platforms":               {Platform: "linux/amd64,linux/arm64"},
	} {
		stored := &record.Record{Revision: 4, State: record.Applied, Options: options, Packages: []preview.Package{{Name: "web"}}}
		release := preview.Release{Name: "web", Namespace: "shop"}
		p := &Planner{}
		_, _, err := p.startFrom(PlanRequest{}, release, stored)
		if err == nil || !strings.Contains(err.Error(), "the options in the record of revision 4 of release web cannot be read") || !strings.Contains(err.Error(), "kubectl operator upgrade web -n shop --reset-options") {
			t.Errorf("%s: error = %v", name, err)
		}
		p.Remember.Reset = true
		if _, _, err := p.startFrom(PlanRequest{}, release, stored); err != nil {
			t.Errorf("%s, left out: %v", name, err)
		}
	}
}

func TestARecordNamesNoProgram(t *testing.T) {
	stored := &record.Record{Revision: 1, State: record.Applied, Options: &preview.ReleaseOptions{Format: "evil"}}
	_, _, err := (&Planner{}).startFrom(PlanRequest{}, preview.Release{Name: "web", Namespace: "shop"}, stored)
	if err == nil || !strings.Contains(err.Error(), "a record cannot name a program") || !strings.Contains(err.Error(), "--format evil") {
		t.Errorf("error = %v", err)
	}
	p := &Planner{}
	p.Remember.Given = func(flag string) bool { return flag == "format" }
	if _, want, err := p.startFrom(PlanRequest{ContentOptions: ContentOptions{Format: "evil"}}, preview.Release{}, stored); err != nil || want.Format != "evil" {
		t.Errorf("format %q, %v", want.Format, err)
	}
}

// A record of an older version has no options: all is as without this, and said.
func TestARecordWithoutOptions(t *testing.T) {
	stored := &record.Record{Revision: 2, State: record.Applied, Packages: []preview.Package{{Name: "web", Parameters: preview.Parameters{Certs: "none"}}}}
	with, want, err := (&Planner{}).startFrom(PlanRequest{}, preview.Release{Name: "web"}, stored)
	if err != nil || want.params.Certs != "" || with.Owners.Conflicts != "" {
		t.Fatalf("certs %q, conflicts %q, %v", want.params.Certs, with.Owners.Conflicts, err)
	}
	if len(want.start.first) != 1 || want.start.first[0].Change != preview.OptionUnrecorded || !strings.Contains(want.start.first[0].Text(), "revision 2 keeps no options: an older version") {
		t.Errorf("said is %v", want.start.first)
	}
	// And is not a starting point when it is uninstalled.
	stored.State = record.Uninstalled
	if _, want, err := (&Planner{}).startFrom(PlanRequest{}, preview.Release{}, stored); err != nil || len(want.start.first) > 0 {
		t.Errorf("after an uninstall is said %v, %v", want.start.first, err)
	}
}

// The way back restores the options with the objects.
func TestARollbackGoesBackToTheOptions(t *testing.T) {
	one := func(size string) *preview.ReleaseOptions {
		return &preview.ReleaseOptions{Values: []preview.SetValue{{Keys: []string{"size"}, JSON: size}}}
	}
	target, newest := &record.Record{Revision: 1, Options: one("3")}, &record.Record{Revision: 2, Options: one("5")}
	options, changes, err := goBack(newest, target)
	if err != nil || options.Values[0].JSON != "3" || len(changes) != 1 || changes[0].Text() != "size=5 -> 3" {
		t.Errorf("%+v, %v, %v", options, changes, err)
	}
	target.Options = nil
	if options, changes, err = goBack(newest, target); err != nil || !options.Unknown || len(changes) != 1 || changes[0].Change != preview.OptionUnrecorded {
		t.Errorf("to one that kept none: %+v, %v, %v", options, changes, err)
	}
	target.Options = &preview.ReleaseOptions{}
	if options, changes, err = goBack(newest, target); err != nil || options != nil || len(changes) != 1 || changes[0].Text() != "size=5" {
		t.Errorf("to one with none: %+v, %v, %v", options, changes, err)
	}
	target.Options = &preview.ReleaseOptions{Conflicts: "steal"}
	if _, _, err = goBack(newest, target); err == nil || !strings.Contains(err.Error(), "kubectl operator history") {
		t.Errorf("to a corrupt one: %v", err)
	}
}
