package planning_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/config"
	"github.com/kubectl-operator/kubectl-operator/cmd/internal/planning"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// A bundle is planned without the program, and without a cluster.
func Example() {
	p := planning.NewPlanner(planning.Environment{
		Getenv: os.Getenv, Schemas: schemas,
		Config:         func() (config.Config, error) { return config.Config{}, nil },
		Namespace:      func() string { return "databases" },
		RequestTimeout: func() (time.Duration, error) { return time.Minute, nil },
	})
	p.Read.Offline = true
	p.Source.CacheDir = os.TempDir() // for content of registries, of which there is none here

	request, err := p.Request("../../../testdata/bundles/mongodb/1.10.0", "orders")
	if err != nil {
		fmt.Println(err)
		return
	}
	plan, err := p.Plan(context.Background(), request, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(plan.Release.Namespace, plan.Release.Name, plan.Packages[0].Name, plan.Packages[0].Version)
	for _, f := range plan.Findings {
		if f.Severity == preview.Critical {
			fmt.Println(f.Title)
		}
	}
	// Output:
	// databases orders mongodb 1.10.0
}
