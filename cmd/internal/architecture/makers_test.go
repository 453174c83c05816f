package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
)

// Tests that carry out commands as they are printed.
const (
	ofReviews       = "TestSlowPrintedCommands"
	ofInstalls      = "TestClusterPrintedCommands"
	ofRefusals      = "TestClusterCommandsOfRefusals"
	ofScreens       = "TestTerminalCommandsOfScreens"
	ofFormats       = "TestSlowTheCommandsOfRefusalsWork"
	ofOwners        = "TestClusterWhatOwnsAnObjectMustLetGoFirst"
	ofCredentials   = "TestTheCommandOfCredentialsMakesTheirSecret"
	ofArtifacts     = "TestArtifactsOfPeersAreReadAsTheirToolsDo"
	ofFlyte         = "TestClusterFlytePluginThatIsTurnedOff"
	ofPlugins       = "TestTheCommandsOfPluginSetsWork"
	ofHome          = "TestTerminalHomeShowsReleases"
	noCommandOfOurs = "" // a word of one, an example, or the making of it
)

// makers are the functions and variables that make commands which are printed, and for
// each the test that carries them out, with the case of [ofRefusals].
var makers = map[string][2]string{
	"cmd/internal/cli session.withoutCluster":            {ofReviews},
	"cmd/internal/cli app.home":                          {ofHome},
	"cmd/internal/cli releaseRun.runFiles":               {ofRefusals, "a request file that leads to other content than was reviewed"},
	"cmd/internal/planning Environment.upgradeCatalog":   {ofRefusals, "a release whose catalog the configuration has no more"},
	"cmd/internal/planning noCatalog":                    {ofRefusals, "a name without any catalog"},
	"cmd/internal/planning Planner.unlessFollowed":       {ofRefusals, "a name that is the one of what a controller follows"},
	"cmd/internal/planning upgradeTo":                    {ofRefusals, "a release that came from no catalog"},
	"cmd/internal/planning besideDirectory":              {ofRefusals, "a directory without a path"},
	"cmd/internal/planning Resolver.allowing":            {"TestTheCommandOfAPrivateAddressWorks"},
	"cmd/internal/planning startingPoint.command":        {ofRefusals, "a release whose values are secret"},
	"preview/remedy ApplierRefuses":                      {noCommandOfOurs},
	"preview/remedy applierFails":                        {noCommandOfOurs},
	"cmd/internal/planning Planner.withStart":            {noCommandOfOurs},
	"cmd/internal/planning goBack":                       {ofRefusals, "a record of an earlier revision that was exchanged"}, // the same command
	"cmd/internal/olmcluster CatalogFlags.command":       {"TestClusterScripts"},                                             // catalogs.txtar
	"cmd/internal/olmcluster CatalogFlags.RemoveCatalog": {"TestClusterScripts"},
	"cmd/internal/olmcluster NewInstall":                 {"TestClusterOLMScripts"},
	"cmd/internal/olmcluster FindPending":                {"TestClusterOLMScripts"},
	"cmd/internal/olmcluster waiting":                    {"TestClusterOLMScripts"},
	"cmd/internal/olmcluster Pending.Check":              {"TestClusterOLMScripts"},
	"cmd/internal/olmcluster Upgrading":                  {"TestClusterOLMScripts"},
	"cmd/internal/olmcluster Uninstalling":               {"TestClusterOLMScripts"},
	"cmd/internal/olmcluster Install.pending":            {"TestClusterOLMScripts"},
	"cmd/internal/olmplugin withCRDs":                    {"TestTheOtherPluginsWordsAreUnderstood"},
	"cmd/internal/olmplugin ofSubscription":              {"TestTheOtherPluginsWordsAreUnderstood"},
	"cmd/internal/olmplugin ofGroup":                     {"TestTheOtherPluginsWordsAreUnderstood"},
	"cmd/internal/olmplugin NewOLMv1Command":             {"TestTheOtherPluginsWordsAreUnderstood"},
	"cmd/internal/olmplugin olmv1Command.answer":         {"TestTheOtherPluginsWordsAreUnderstood"},
	"cmd/internal/requestfile joined":                    {ofRefusals, "a directory without objects, as a request file"},
	"cmd/piped-plugin stageRun.plan":                     {"TestClusterSignedApprovalsAreRequired"},
	"install DeniedError":                                {"TestClusterExceededQuotaIsNoMissingRight"}, // opens an editor; compared with the quota's name
	"install attempt.wayOut":                             {ofRefusals, "an uninstall that the release's own policy refuses"},
	"install quotaAdvice":                                {"TestClusterExceededQuotaIsNoMissingRight"}, // the same command
	"install writer.addLockAdvice":                       {ofRefusals, "a rollout that failed"},        // the same command
	"install waiter.rolloutError":                        {ofRefusals, "a rollout that failed"},
	"install/history lostNewest":                         {ofRefusals, "a release whose newest record is gone"},
	"install/history adviseList":                         {ofRefusals, "a release that is not there"},
	"install/record adviseLost":                          {ofRefusals, "a record that cannot be decoded"},
	"install/record adviseAlone":                         {ofRefusals, "a record in a list that cannot be decoded"},
	"install/record Record.checkNamed":                   {ofRefusals, "a record of an earlier revision that was exchanged"},
	"k8s Flags.checkCluster":                             {ofRefusals, "a kubeconfig without a context"},
	"preview/catalog searchCommand":                      {ofRefusals, "a name that many packages are near to"},
	"preview/engine brokenConversions.findings":          {ofRefusals, "a definition whose conversion an uninstall breaks"},
	"preview/engine helmRecords.findings":                {ofRefusals, "an object that Helm has a record of"},
	"preview/engine RestoreContents":                     {ofRefusals, "a record of an earlier revision that was exchanged"}, // the same command
	"preview/flyte restartLines":                         {ofFlyte},
	"preview/format Advice.operator":                     {ofFormats},
	"preview/format/helm renderer.build":                 {ofFormats},
	"preview/format/helm renderer.without":               {ofFormats},
	"preview/format/kustomize planner.loaded":            {ofFormats},
	"preview/format/kustomize planner.byHand":            {ofFormats},
	"preview/format/kustomize planner.edited":            {ofFormats},
	"preview/format/kustomize planner.cloned":            {ofFormats},
	"preview/format/kustomize planner.vendored":          {ofFormats},
	"preview/format/kustomize planner.pin":               {ofFormats},
	"preview/format/kustomize planner.listing":           {ofFormats},
	"preview/format/kustomize planner.built":             {ofFormats},
	"preview/owners ReleaseSteps":                        {ofOwners},
	"preview/plugins initContainer.carry":                {ofCredentials},
	"preview/plugins initContainer.secretCommand":        {ofCredentials},
	"preview/plugins initContainer.registries":           {ofCredentials},
	"preview/ref noRequest":                              {ofRefusals, "a file without a request"},
	"preview/ref reader.externalArtifact":                {ofRefusals, "a Kustomization of Flux whose content is made in the cluster"},
	"preview/remedy Deleting":                            {ofRefusals, "an object that waits for its deletion"},
	"preview/remedy OtherRelease":                        {ofRefusals, "an object of another release"},
	"preview/remedy OtherDefinition":                     {ofRefusals, "a definition that another release has in another form"},
	"preview/remedy ChangedDefinition":                   {ofRefusals, "a definition that is not as the release left it"},
	"preview/remedy HiddenRelease":                       {ofRefusals, "a release whose record may not be read"},
	"preview/remedy OwnerReference":                      {ofOwners}, // the same command
	"preview/remedy ApplySet":                            {ofOwners},
	"preview/remedy OtherTool":                           {ofRefusals, "a history that does not hold, by the advice of its finding"}, // the same command, of another object
	"preview/remedy Irreplaceable":                       {ofRefusals, "a claim whose class changes"},
	"preview/remedy OtherVersion":                        {ofRefusals, "an object that exists in another version than its content has"},
	"preview/remedy Unreadable":                          {ofRefusals, "a kind of which its CRD serves no version"},
	"preview/remedy NoNamespace":                         {ofRefusals, "an object whose namespace does not exist"},
	"preview/remedy OverQuota":                           {ofRefusals, "an object that a quota leaves no room for"},
	"preview/remedy DeniedByPolicy":                      {ofRefusals, "an object that a policy denies"},
	"preview/remedy RefusedByPolicy":                     {ofRefusals, "an object that a policy of the cluster refuses"},
	"preview/remedy Case.about":                          {noCommandOfOurs},
	"preview/remedy notServed":                           {ofRefusals, "a kind that nothing serves"},
	"preview/remedy invalid":                             {"TestClusterSharedScripts"}, // port-protocol.txtar
	"preview/remedy contested":                           {noCommandOfOurs},            // kubectl edit asks a person
	"preview/remedy misfit":                              {ofRefusals, "an object that does not fit its schema"},
	"preview/remedy OfHelm":                              {ofRefusals, "an install of what Helm owns"},
	"preview/review ownCommand":                          {noCommandOfOurs},
	"preview/review takeOver":                            {ofRefusals, "a release that Helm owns"},
	"preview/review Command":                             {ofInstalls},
	"preview/review ResumeCommand":                       {ofRefusals, "a rollout that is not over in time"},
	"preview/review RepeatCommand":                       {ofReviews},
	"preview/review savingCommand":                       {ofInstalls},
	"preview/review showCommand":                         {ofRefusals, "a saved plan that this user may not apply"},
	"preview/review formCommand":                         {ofReviews},
	"preview/review CommandOfFile":                       {ofReviews},
	"preview/review ExplainCommand":                      {ofReviews},
	"preview/review SetRollback":                         {ofPlugins},
	"preview/review lessSection":                         {noCommandOfOurs},
	"preview/rules BindingUnknownRole":                   {ofRefusals, "a binding to a role that the cluster does not have"},
	"preview/rules FlyteEngineNotRestarted":              {noCommandOfOurs},
	"preview/rules HelmRecordStays":                      {noCommandOfOurs},
	"preview/rules NamespaceKept":                        {ofRefusals, "a namespace that an uninstall keeps, in the finding itself"},
	"preview/rules RecordUnreadable":                     {ofRefusals, "a record that cannot be decoded"},                            // the same command
	"preview/rules RecordNotSigned":                      {ofRefusals, "a history that does not hold, by the advice of its finding"}, // the same commands
	"preview/rules RecordChainBroken":                    {ofRefusals, "a history that does not hold, by the advice of its finding"},
	"preview/rules RecordApprovalBroken":                 {ofRefusals, "a history that does not hold, by the advice of its finding"}, // the same commands
	"preview/source manifest.oneOf":                      {ofArtifacts},
	"preview volatileTable":                              {noCommandOfOurs},
	"tui/follow statusCommand":                           {ofScreens},
	"tui/frame UndoCommand":                              {ofScreens},
	"tui/home screen.commandText":                        {ofHome},
	"tui/tabs summaryTab.mitigationRows":                 {noCommandOfOurs},
}

// kubectlVerb is in a text that names a command of kubectl itself.
var kubectlVerb = regexp.MustCompile(`\bkubectl (?:get|describe|delete|rollout|patch|label|annotate|scale|wait|logs|apply|create|auth|config|explain|edit) `)

// madeCommands returns how many commands a part of a source makes.
func madeCommands(node ast.Node) (n int) {
	ast.Inspect(node, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.SelectorExpr:
			of, ok := node.X.(*ast.Ident)
			if ok && (of.Name == "commandline" && slices.Contains([]string{"Join", "Operator", "OfRelease", "AboutRelease"}, node.Sel.Name) || of.Name == "c" && node.Sel.Name == "about") {
				n++
			}
		case *ast.BasicLit:
			if text, err := strconv.Unquote(node.Value); err == nil && kubectlVerb.MatchString(text) && !strings.Contains(text, "\n") {
				n++
			}
		}
		return true
	})
	return n
}

// makersOf returns the names of what makes commands in a declaration: a function, a
// variable, or the keys of a table.
func makersOf(decl ast.Decl) (out []string) {
	add := func(name string, node ast.Node) {
		if node != nil && madeCommands(node) > 0 {
			out = append(out, name)
		}
	}
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		name := decl.Name.Name
		if decl.Recv != nil {
			name = receiver(decl.Recv.List[0].Type) + "." + name
		}
		add(name, decl)
	case *ast.GenDecl:
		for _, spec := range decl.Specs {
			value, ok := spec.(*ast.ValueSpec)
			if !ok || len(value.Values) == 0 {
				continue
			}
			table, keyed := value.Values[0].(*ast.CompositeLit)
			if keyed = keyed && len(table.Elts) > 0; keyed {
				_, keyed = table.Elts[0].(*ast.KeyValueExpr)
			}
			if !keyed {
				add(value.Names[0].Name, value)
				continue
			}
			for _, element := range table.Elts {
				if pair, ok := element.(*ast.KeyValueExpr); ok {
					if key, ok := pair.Key.(*ast.Ident); ok {
						add(key.Name, pair.Value)
					}
				}
			}
		}
	}
	return out
}

// TestEachPrintedCommandIsCarriedOut holds that what makes a command which is printed has
// a row with the test that carries it out, and that this test and its case are there.
func TestEachPrintedCommandIsCarriedOut(t *testing.T) {
	found := map[string]bool{}
	eachSource(t, append(slices.Clone(program), "cmd/piped-plugin"), func(path string, _ *token.FileSet, file *ast.File) {
		dir := filepath.ToSlash(filepath.Dir(path))
		if dir == "preview/commandline" {
			return
		}
		for _, decl := range file.Decls {
			for _, name := range makersOf(decl) {
				found[dir+" "+name] = true
			}
		}
	})
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if _, known := makers[name]; !known {
			t.Errorf("%s makes a command that no test carries out; add a case to refusals() of cmd/internal/cli and a row here", name)
		}
	}
	tests, cases := testsAndTexts(t)
	for _, name := range slices.Sorted(maps.Keys(makers)) {
		row := makers[name]
		switch {
		case !found[name]:
			t.Errorf("%s makes no command", name)
		case row[0] == noCommandOfOurs:
		case !tests[row[0]]:
			t.Errorf("%s: there is no %s", name, row[0])
		case row[0] == ofRefusals && !cases[row[1]]:
			t.Errorf("%s: %s has no case %q", name, row[0], row[1])
		}
	}
}

// testsAndTexts returns the names of all tests, and the texts of the file with refusals.
func testsAndTexts(t *testing.T) (tests, texts map[string]bool) {
	t.Helper()
	tests, texts = map[string]bool{}, map[string]bool{}
	root := corpustest.Repository(t)
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, match := range testFunction.FindAllSubmatch(data, -1) {
			tests[string(match[1])] = true
		}
		if filepath.Base(path) != "refusals_test.go" {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, data, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(node ast.Node) bool {
			if literal, ok := node.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				if text, err := strconv.Unquote(literal.Value); err == nil {
					texts[text] = true
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return tests, texts
}

var testFunction = regexp.MustCompile(`(?m)^func (Test[A-Za-z0-9_]+)\(`)
