package main

import (
	"os"
	_ "time/tzdata" // time zones of CronJobs, as in the upstream commands

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"          // the JSON log format
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // client-go's metrics
	_ "k8s.io/component-base/metrics/prometheus/version"  // the version metric
	kubeapiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	kubecontrollermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	kubescheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

// component returns the main function of the named component, nil if there is
// none of that name. The function reads os.Args and returns the exit code.
func component(name string) func() int {
	switch name {
	case "etcd":
		return func() int { etcdmain.Main(os.Args); return 0 }
	case "kube-apiserver":
		return command(kubeapiserver.NewAPIServerCommand)
	case "kube-controller-manager":
		return command(kubecontrollermanager.NewControllerManagerCommand)
	case "kube-scheduler":
		return func() int { return cli.Run(kubescheduler.NewSchedulerCommand()) }
	}
	return nil
}

func command(build func() *cobra.Command) func() int {
	return func() int { return cli.Run(build()) }
}
