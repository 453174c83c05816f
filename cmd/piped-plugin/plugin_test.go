package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pipe-cd/pipecd/pkg/model"
	pluginapi "github.com/pipe-cd/pipecd/pkg/plugin/api/v1alpha1"
	"github.com/pipe-cd/pipecd/pkg/plugin/api/v1alpha1/common"
	"github.com/pipe-cd/pipecd/pkg/plugin/api/v1alpha1/deployment"
	"github.com/pipe-cd/pipecd/pkg/plugin/api/v1alpha1/livestate"
	"github.com/pipe-cd/pipecd/pkg/plugin/api/v1alpha1/planpreview"
	"github.com/pipe-cd/pipecd/pkg/plugin/pipedservice"
	"github.com/pipe-cd/pipecd/pkg/rpc/rpcclient"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/planning"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
)

const asPlugin = "PIPED_PLUGIN_TEST"

func TestMain(m *testing.M) {
	planning.RunFormatChild()
	if os.Getenv(asPlugin) != "" { // this program is the plugin that a test starts
		main()
		return
	}
	if os.Getenv(sandbox.BinaryEnv) == "" { // it is built for the whole repository
		if path, err := filepath.Abs(filepath.Join("..", "..", "bin", sandbox.BinaryName)); err == nil {
			if _, err := os.Stat(path); err == nil {
				_ = os.Setenv(sandbox.BinaryEnv, path)
			}
		}
	}
	os.Exit(sandboxtest.Run(m, 6))
}

// piped is the side of piped: it keeps what plugins hand over, as piped does.
type piped struct {
	pipedservice.UnimplementedPluginServiceServer
	address string
	server  *grpc.Server
	home    string // of the plugins that it starts

	mu       sync.Mutex
	notes    map[string]string // by deployment and key
	shown    map[string]string // by stage and key
	logs     map[string][]*model.LogBlock
	commands []*model.Command
	arrived  chan struct{} // a log did, since it was read last
}

func newPiped(t *testing.T) *piped {
	t.Helper()
	p := &piped{home: t.TempDir(), notes: map[string]string{}, shown: map[string]string{}, logs: map[string][]*model.LogBlock{}, arrived: make(chan struct{}, 1)}
	p.serve(t, "127.0.0.1:0")
	return p
}

// serve starts what plugins talk to. Killed and started again, it knows what its control
// plane keeps.
func (p *piped) serve(t *testing.T, address string) {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	p.address, p.server = listener.Addr().String(), grpc.NewServer()
	pipedservice.RegisterPluginServiceServer(p.server, p)
	go func(server *grpc.Server) { _ = server.Serve(listener) }(p.server)
	t.Cleanup(p.server.Stop)
}

func (p *piped) ReportStageLogs(_ context.Context, r *pipedservice.ReportStageLogsRequest) (*pipedservice.ReportStageLogsResponse, error) {
	p.log(r.StageId, r.Blocks)
	return &pipedservice.ReportStageLogsResponse{}, nil
}

func (p *piped) ReportStageLogsFromLastCheckpoint(_ context.Context, r *pipedservice.ReportStageLogsFromLastCheckpointRequest) (*pipedservice.ReportStageLogsFromLastCheckpointResponse, error) {
	p.log(r.StageId, r.Blocks)
	return &pipedservice.ReportStageLogsFromLastCheckpointResponse{}, nil
}

func (p *piped) log(stage string, blocks []*model.LogBlock) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.logs[stage] = append(p.logs[stage], blocks...)
	select {
	case p.arrived <- struct{}{}:
	default:
	}
}

func (p *piped) GetDeploymentPluginMetadata(_ context.Context, r *pipedservice.GetDeploymentPluginMetadataRequest) (*pipedservice.GetDeploymentPluginMetadataResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	value, found := p.notes[r.DeploymentId+" "+r.Key]
	return &pipedservice.GetDeploymentPluginMetadataResponse{Value: value, Found: found}, nil
}

func (p *piped) PutDeploymentPluginMetadata(_ context.Context, r *pipedservice.PutDeploymentPluginMetadataRequest) (*pipedservice.PutDeploymentPluginMetadataResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.notes[r.DeploymentId+" "+r.Key] = r.Value
	return &pipedservice.PutDeploymentPluginMetadataResponse{}, nil
}

func (p *piped) PutStageMetadata(_ context.Context, r *pipedservice.PutStageMetadataRequest) (*pipedservice.PutStageMetadataResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shown[r.StageId+" "+r.Key] = r.Value
	return &pipedservice.PutStageMetadataResponse{}, nil
}

func (p *piped) ListStageCommands(_ context.Context, _ *pipedservice.ListStageCommandsRequest) (*pipedservice.ListStageCommandsResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return &pipedservice.ListStageCommandsResponse{Commands: slices.Clone(p.commands)}, nil
}

// approve is what the user alice does in piped's console.
func (p *piped) approve() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.commands = append(p.commands, &model.Command{Id: fmt.Sprint("command-", len(p.commands)), Type: model.Command_APPROVE_STAGE, Commander: "alice"})
}

// said is the log of a stage. A control character in any log is an error.
func (p *piped) said(t *testing.T, stage string) string {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	var out strings.Builder
	for _, block := range p.logs[stage] {
		fmt.Fprintln(&out, block.Log)
	}
	if i := strings.IndexFunc(out.String(), func(r rune) bool { return r < ' ' && r != '\n' || r == 0x7f || r >= 0x80 && r < 0xa0 }); i >= 0 {
		t.Errorf("the log of %s has a control character: %q", stage, out.String()[max(0, i-20):])
	}
	return out.String()
}

// saidAtLast is the log of a stage once it has a text: the log of a stage that was cut
// comes later than its end.
func (p *piped) saidAtLast(t *testing.T, stage, text string) string {
	t.Helper()
	late := time.After(2 * time.Minute)
	for {
		if said := p.said(t, stage); strings.Contains(said, text) {
			return said
		}
		select {
		case <-p.arrived:
		case <-late:
			t.Fatalf("the log of %s does not say %q:\n%s", stage, text, p.said(t, stage))
		}
	}
}

// running is a running plugin.
type running struct {
	pluginapi.PluginClient
	previews planpreview.PlanPreviewServiceClient
	cmd      *exec.Cmd
	address  string
	took     map[string]time.Duration // the longest of each call
}

// startPlugin starts the plugin as piped does, and connects as piped does.
func startPlugin(t *testing.T, p *piped, config, kubeconfig string) *running {
	t.Helper()
	return startPluginAt(t, p, config, map[string]any{"kubeconfig": kubeconfig})
}

// startPluginAt starts the plugin with the configuration of its deploy target.
func startPluginAt(t *testing.T, p *piped, config string, at map[string]any) *running {
	t.Helper()
	return startPluginFor(t, p, config, map[string]any{"name": "sandbox", "config": at})
}

// startPluginFor starts the plugin with its deploy targets.
func startPluginFor(t *testing.T, p *piped, config string, targets ...map[string]any) *running {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	_ = listener.Close()
	all, err := json.Marshal(targets)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(`{"name": "operator", "url": "file:///plugin", "port": %d, "config": %s, "deployTargets": %s}`, port, config, all)
	r := &running{took: map[string]time.Duration{}, cmd: exec.Command(self, "start", "--piped-plugin-service", p.address, "--config", text)}
	r.cmd.Env = append(os.Environ(), asPlugin+"=1", "HOME="+p.home, "XDG_CACHE_HOME="+p.home+"/cache", "XDG_CONFIG_HOME="+p.home+"/config", "XDG_STATE_HOME="+p.home+"/state")
	var log strings.Builder
	r.cmd.Stdout, r.cmd.Stderr = &log, &log
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = r.cmd.Process.Kill()
		_ = r.cmd.Wait()
		if t.Failed() {
			t.Logf("the plugin wrote:\n%.4000s", log.String())
		}
	})
	r.address = fmt.Sprint("127.0.0.1:", port)
	r.connect(t)
	return r
}

// connect connects to the plugin as piped does.
func (r *running) connect(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	var err error
	if r.PluginClient, err = pluginapi.NewClient(ctx, "operator", r.address, rpcclient.WithBlock(), rpcclient.WithInsecure()); err != nil {
		t.Fatal(err)
	}
	conn, err := rpcclient.DialContext(ctx, r.address, rpcclient.WithBlock(), rpcclient.WithInsecure())
	if err != nil {
		t.Fatal(err)
	}
	r.previews = planpreview.NewPlanPreviewServiceClient(conn) // the client above has nil
}

// memory is the resident memory of the plugin in MiB: all of it, and without the pages of
// the program's own file, which the kernel takes back when it needs them.
func (r *running) memory(t *testing.T) (all, own int) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", r.cmd.Process.Pid))
	if err != nil {
		t.Skip("skipped: this machine has no /proc")
	}
	for name, into := range map[string]*int{"VmRSS:": &all, "RssAnon:": &own} {
		_, after, _ := strings.Cut(string(text), name)
		kib, err := strconv.Atoi(strings.Fields(after)[0])
		if err != nil {
			t.Fatal(err)
		}
		*into = kib >> 10
	}
	return all, own
}

// application is one application, with one source for each commit.
type application struct {
	t    *testing.T
	name string
}

// commit writes a commit of an application: its configuration, and files.
func (a application) commit(config string, dirs map[string]string, files map[string]string) *common.DeploymentSource {
	a.t.Helper()
	dir := a.t.TempDir()
	files["app.pipecd.yaml"] = config
	for name, from := range dirs {
		err := fs.WalkDir(os.DirFS(from), ".", func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			data, err := os.ReadFile(filepath.Join(from, path))
			files[name+"/"+path] = string(data)
			return err
		})
		if err != nil {
			a.t.Fatal(err)
		}
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			a.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			a.t.Fatal(err)
		}
	}
	return &common.DeploymentSource{
		ApplicationDirectory: dir, CommitHash: "0123456789abcdef0123456789abcdef01234567",
		ApplicationConfig: []byte(config), ApplicationConfigFilename: "app.pipecd.yaml",
	}
}

// deployment is a deployment of the application, as piped describes it.
func (a application) deployment(id string) *model.Deployment {
	now := time.Now().Unix()
	return &model.Deployment{
		Id: id, ApplicationId: a.name, ApplicationName: a.name, PipedId: "piped", ProjectId: "project", CreatedAt: now, UpdatedAt: now,
		GitPath:               &model.ApplicationGitPath{Repo: &model.ApplicationGitRepository{Id: "repo"}, Path: a.name},
		Trigger:               &model.DeploymentTrigger{Timestamp: now, Commit: &model.Commit{Hash: "0123", Message: "m", Author: "a", Branch: "main", CreatedAt: now}},
		DeployTargetsByPlugin: map[string]*model.DeployTargets{"operator": {DeployTargets: []string{"sandbox"}}},
	}
}

// run runs a stage as piped's scheduler does.
func (r *running) run(ctx context.Context, d *model.Deployment, stage string, source *common.DeploymentSource) (model.StageStatus, error) {
	return r.runAs(ctx, d, d.Id+"/"+stage, stage, source)
}

func (r *running) runAs(ctx context.Context, d *model.Deployment, id, stage string, source *common.DeploymentSource) (model.StageStatus, error) {
	return r.runWith(ctx, d, id, stage, "{}", source)
}

// runWith runs a stage with its own configuration.
func (r *running) runWith(ctx context.Context, d *model.Deployment, id, stage, with string, source *common.DeploymentSource) (model.StageStatus, error) {
	now := time.Now().Unix()
	out, err := r.ExecuteStage(ctx, &deployment.ExecuteStageRequest{Input: &deployment.ExecutePluginInput{
		Deployment: d, Stage: &model.PipelineStage{Id: id, Name: stage, CreatedAt: now, UpdatedAt: now},
		StageConfig: []byte(with), TargetDeploymentSource: source,
	}})
	return out.GetStatus(), err
}

// timed notes how long a call took, if that is the longest so far.
func (r *running) timed(call string, since time.Time) {
	r.took[call] = max(r.took[call], time.Since(since))
}

// must runs a stage that succeeds, and returns its log.
func (r *running) must(t *testing.T, p *piped, d *model.Deployment, stage string, source *common.DeploymentSource) string {
	t.Helper()
	since := time.Now()
	got, err := r.run(t.Context(), d, stage, source)
	r.timed(stage, since)
	said := p.said(t, d.Id+"/"+stage)
	if err != nil || got != model.StageStatus_STAGE_SUCCESS {
		t.Fatalf("%s: %s, %v\n%s", stage, got, err, said)
	}
	return said
}

func bundle(version string) map[string]string {
	return map[string]string{"bundle": filepath.Join("..", "..", "testdata", "bundles", "mongodb", version)}
}

const bundleApplication = `apiVersion: pipecd.dev/v1beta1
kind: Application
spec:
  name: database
  pipeline:
    stages:
    - name: OPERATOR_PLAN
    - name: OPERATOR_WAIT_APPROVAL
    - name: OPERATOR_APPLY
  plugins:
    operator: {namespace: databases, reference: ./bundle}
`

// A bundle is deployed from plan to rollback. The plugin is killed in the midst of the
// apply, and piped's retry goes on with it.
func TestClusterADeploymentFromPlanToRollback(t *testing.T) {
	t.Parallel() // the SDK waits seconds for the log of each stage
	box := sandboxtest.Start(t)
	p := newPiped(t)
	app := application{t, "database"}
	first := app.commit(bundleApplication, bundle("1.9.0"), map[string]string{})

	var victim *running
	proxy := sandboxtest.NewProxy(t, box.Kubeconfig(), sandboxtest.ProxyOptions{Fault: func(r sandboxtest.Request) sandboxtest.Fault {
		if r.Persists() && r.Write == 6 {
			return sandboxtest.Fault{Cut: sandboxtest.CutAnswer, Then: func() { _ = victim.cmd.Process.Kill() }}
		}
		return sandboxtest.Fault{}
	}})
	victim = startPlugin(t, p, "{}", proxy.Kubeconfig)
	idle, own := victim.memory(t)
	stages(t, victim)
	versions, err := victim.DetermineVersions(t.Context(), &deployment.DetermineVersionsRequest{Input: &deployment.PlanPluginInput{Deployment: app.deployment("d1"), TargetDeploymentSource: first}})
	if err != nil || len(versions.Versions) != 1 || versions.Versions[0].Version != "1.9.0" || versions.Versions[0].Name != "mongodb" {
		t.Errorf("versions %v, %v", versions, err)
	}
	one := app.deployment("d1")
	said := victim.must(t, p, one, "OPERATOR_PLAN", first)
	if !strings.Contains(said, "sha256:") || !strings.Contains(p.shown["d1/OPERATOR_PLAN pipecd/stage-display-metadata"], "mongodb") {
		t.Errorf("the plan is logged as\n%s\nand shown as %v", said, p.shown)
	}
	p.approve()
	if said := victim.must(t, p, one, "OPERATOR_WAIT_APPROVAL", first); !strings.Contains(said, "approved by alice") {
		t.Errorf("approved: %s", said)
	}
	if got, err := victim.run(t.Context(), one, "OPERATOR_APPLY", first); err == nil {
		t.Fatalf("killed in the midst: %s", got)
	}

	plugin := startPlugin(t, p, "{}", box.Kubeconfig())
	said = plugin.must(t, p, one, "OPERATOR_APPLY", first)
	if !strings.Contains(said, "going on with the interrupted run") {
		t.Errorf("resumed: %s", said)
	}
	if said = plugin.must(t, p, one, "OPERATOR_APPLY", first); !strings.Contains(said, "was applied already, as revision 1") {
		t.Errorf("asked twice: %s", said)
	}
	if state := live(t, plugin, app, first); state.SyncState.Status != model.ApplicationSyncStatus_SYNCED || len(state.ApplicationLiveState.Resources) < 5 {
		t.Errorf("live state %v", state)
	}

	second := app.commit(bundleApplication, bundle("1.10.0"), map[string]string{})
	since := time.Now()
	strategy, err := plugin.DetermineStrategy(t.Context(), &deployment.DetermineStrategyRequest{Input: &deployment.PlanPluginInput{Deployment: app.deployment("d2"), RunningDeploymentSource: first, TargetDeploymentSource: second}})
	if err != nil || strategy.SyncStrategy != model.SyncStrategy_PIPELINE {
		t.Errorf("strategy %v, %v", strategy, err)
	}
	plugin.timed("DetermineStrategy", since)
	since = time.Now()
	shown, err := plugin.previews.GetPlanPreview(t.Context(), &planpreview.GetPlanPreviewRequest{ApplicationId: app.name, ApplicationName: app.name, PipedId: "piped", DeployTargets: []string{"sandbox"}, RunningDeploymentSource: first, TargetDeploymentSource: second})
	if err != nil || len(shown.Results) != 1 || shown.Results[0].NoChange || !strings.Contains(string(shown.Results[0].Details), "1.10.0") {
		t.Errorf("plan preview %v, %v", shown, err)
	}
	plugin.timed("GetPlanPreview", since)
	third := app.commit(bundleApplication, bundle("1.11.0"), map[string]string{})
	three := app.deployment("d3")
	for i, source := range []*common.DeploymentSource{second, third} {
		for _, stage := range []string{"OPERATOR_PLAN", "OPERATOR_WAIT_APPROVAL", "OPERATOR_APPLY"} {
			plugin.must(t, p, app.deployment(fmt.Sprint("d", i+2)), stage, source)
		}
	}
	if said = plugin.must(t, p, three, "OPERATOR_ROLLBACK", third); !strings.Contains(said, "taken back") {
		t.Errorf("rolled back: %s", said)
	}
	if said = plugin.must(t, p, three, "OPERATOR_ROLLBACK", third); !strings.Contains(said, "taken back already, as revision 4") {
		t.Errorf("rolled back twice: %s", said)
	}
	if state := live(t, plugin, app, second); state.SyncState.Status != model.ApplicationSyncStatus_SYNCED {
		t.Errorf("after the rollback: %v", state.SyncState)
	}
	if state := live(t, plugin, app, third); state.SyncState.Status != model.ApplicationSyncStatus_OUT_OF_SYNC {
		t.Errorf("and of the commit that was taken back: %v", state.SyncState)
	}
	if kept, err := filepath.Glob(filepath.Join(p.home, "state", "*", "piped-plans", "*")); err != nil || len(kept) != 0 {
		t.Errorf("plans of deployments that ended are kept: %q, %v", kept, err)
	}
	after, ownAfter := plugin.memory(t)
	t.Logf("the table of CONTRIBUTING:\n%s| memory when started | %d MiB, %d of them its own |\n| memory after three deployments | %d MiB, %d of them its own |", plugin.table(), idle, own, after, ownAfter)
	if ownAfter >= 60 {
		t.Errorf("after three deployments, the plugin takes %d MiB of its own", ownAfter)
	}
}

// table is how long each call took, as rows of Markdown.
func (r *running) table() string {
	var out strings.Builder
	for _, call := range slices.Sorted(maps.Keys(r.took)) {
		fmt.Fprintf(&out, "| %s | %.2f s |\n", call, r.took[call].Seconds())
	}
	return out.String()
}

// stages checks the stages that piped gets, and their order.
func stages(t *testing.T, r *running) {
	t.Helper()
	built, err := r.BuildPipelineSyncStages(t.Context(), &deployment.BuildPipelineSyncStagesRequest{Rollback: true, Stages: []*deployment.BuildPipelineSyncStagesRequest_StageConfig{
		{Name: "OPERATOR_PLAN", Index: 1}, {Name: "OPERATOR_WAIT_APPROVAL", Index: 3, Config: []byte(`{"approvers": ["alice"]}`)}, {Name: "OPERATOR_APPLY", Index: 4},
	}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range built.Stages {
		got = append(got, fmt.Sprint(s.Index, s.Name, s.Rollback, s.AvailableOperation, s.AuthorizedOperators))
	}
	want := "1OPERATOR_PLANfalse MANUAL_OPERATION_NONE [], 3OPERATOR_WAIT_APPROVALfalse MANUAL_OPERATION_APPROVE [alice], 4OPERATOR_APPLYfalse MANUAL_OPERATION_NONE [], 1OPERATOR_ROLLBACKtrue MANUAL_OPERATION_NONE []"
	if strings.Join(got, ", ") != want {
		t.Errorf("stages %s\nwant   %s", strings.Join(got, ", "), want)
	}
}

func live(t *testing.T, r *running, app application, source *common.DeploymentSource) *livestate.GetLivestateResponse {
	t.Helper()
	return liveAt(t, r, app, source, "sandbox")
}

func liveAt(t *testing.T, r *running, app application, source *common.DeploymentSource, targets ...string) *livestate.GetLivestateResponse {
	t.Helper()
	defer r.timed("GetLivestate", time.Now())
	state, err := r.GetLivestate(t.Context(), &livestate.GetLivestateRequest{PipedId: "piped", ApplicationId: app.name, ApplicationName: app.name, DeploySource: source, DeployTargets: targets})
	if err != nil {
		t.Fatal(err)
	}
	return state
}

const settingsApplication = `apiVersion: pipecd.dev/v1beta1
kind: Application
spec:
  name: settings
  plugins: {operator: {input: {namespace: default}}}
`

// The first deployment of an application leaves nothing when it is taken back. A request
// that is too large is refused, and the plugin goes on.
func TestClusterTheFirstDeploymentIsTakenBack(t *testing.T) {
	t.Parallel() // the SDK waits seconds for the log of each stage
	box := sandboxtest.Start(t)
	p := newPiped(t)
	plugin := startPlugin(t, p, "{}", box.Kubeconfig())
	app := application{t, "settings"}
	source := app.commit(settingsApplication, nil, map[string]string{"a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings-of-piped, annotations: {a: \"\\e[31mred\\r\\n\"}}\ndata: {colour: \"\\e[2Jred\"}\n"})
	large := &common.DeploymentSource{ApplicationDirectory: source.ApplicationDirectory, ApplicationConfigFilename: "app.pipecd.yaml", ApplicationConfig: append([]byte(settingsApplication), make([]byte, 5<<20)...)}
	if _, err := plugin.run(t.Context(), app.deployment("large"), "OPERATOR_PLAN", large); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("5 MiB: %v", err)
	}
	d := app.deployment("s1")
	if got, err := plugin.run(t.Context(), d, "OPERATOR_APPLY", source); err != nil || got != model.StageStatus_STAGE_FAILURE || !strings.Contains(p.said(t, "s1/OPERATOR_APPLY"), "there is no plan to go by") {
		t.Errorf("without a plan: %s, %v", got, err)
	}
	plugin.must(t, p, d, "OPERATOR_PLAN", source)
	var both sync.WaitGroup
	for at := range 2 { // piped asks twice; two logs, as the SDK waits a minute for the end of one that two write
		both.Go(func() {
			id := fmt.Sprint("s1/again-", at)
			if got, err := plugin.runAs(t.Context(), d, id, "OPERATOR_APPLY", source); err != nil || got != model.StageStatus_STAGE_SUCCESS {
				t.Errorf("asked twice: %s, %v\n%s", got, err, p.said(t, id))
			}
		})
	}
	both.Wait()
	if state := live(t, plugin, app, source); len(state.ApplicationLiveState.Resources) != 1 {
		t.Errorf("applied: %v", state)
	}
	plugin.must(t, p, d, "OPERATOR_ROLLBACK", source)
	if state := live(t, plugin, app, source); len(state.ApplicationLiveState.Resources) != 0 || state.SyncState.Status != model.ApplicationSyncStatus_OUT_OF_SYNC {
		t.Errorf("taken back: %v", state)
	}
}
