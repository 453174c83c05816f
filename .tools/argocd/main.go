// Command argocd syncs objects to a cluster as the controller of Argo CD does, by Argo CD's
// own engine, for tests. It reads what is to be synced from standard input and prints what
// became of each object.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"

	"github.com/argoproj/gitops-engine/pkg/sync"
	"github.com/argoproj/gitops-engine/pkg/sync/common"
	"github.com/argoproj/gitops-engine/pkg/utils/kube"
	"github.com/argoproj/gitops-engine/pkg/utils/tracing"
	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
)

// request holds the pairs to sync: a target and its live object; either may be missing.
type request struct {
	Kubeconfig, Namespace                   string
	Target, Live                            []map[string]any
	ServerSide, Replace, Prune, NoMigration bool
}

func main() {
	var r request
	if err := json.NewDecoder(os.Stdin).Decode(&r); err != nil {
		log.Fatal(err)
	}
	if err := r.sync(); err != nil {
		log.Fatal(err)
	}
}

func (r request) sync() error {
	config, err := clientcmd.BuildConfigFromFlags("", r.Kubeconfig)
	if err != nil {
		return err
	}
	var result sync.ReconciliationResult
	for i := range r.Target {
		result.Target = append(result.Target, object(r.Target[i]))
		result.Live = append(result.Live, object(r.Live[i]))
	}
	kubectl := &kube.KubectlCmd{Log: logr.Discard(), Tracer: tracing.NopTracer{}}
	schema, _, err := kubectl.LoadOpenAPISchema(config)
	if err != nil {
		return err
	}
	policy := metav1.DeletePropagationForeground
	to, cleanup, err := sync.NewSyncContext("1", result, config, config, kubectl, r.Namespace, schema,
		sync.WithLogr(logr.Discard()), sync.WithPrune(r.Prune), sync.WithReplace(r.Replace), sync.WithPrunePropagationPolicy(&policy),
		sync.WithServerSideApply(r.ServerSide), sync.WithServerSideApplyManager("argocd-controller"), sync.WithManifestValidation(true),
		sync.WithClientSideApplyMigration(!r.NoMigration, common.DefaultClientSideApplyMigrationManager), sync.WithOperationSettings(false, r.Prune, false, false),
	)
	if err != nil {
		return err
	}
	defer cleanup()
	for range 100 { // one step for each phase and wave
		to.Sync()
		phase, message, results := to.GetState()
		if !phase.Completed() {
			continue
		}
		for _, r := range results {
			fmt.Println(r.Status, r.ResourceKey, r.Message)
		}
		if phase != common.OperationSucceeded {
			return fmt.Errorf("%s: %s", phase, message)
		}
		return nil
	}
	return fmt.Errorf("it does not end")
}

func object(body map[string]any) *unstructured.Unstructured {
	if body == nil {
		return nil
	}
	return &unstructured.Unstructured{Object: body}
}
