package main

import (
	"fmt"

	"github.com/kubectl-operator/kubectl-operator/k8s"
)

func main() { fmt.Println(k8s.NewFlags() != nil, k8s.NewSchemas() != nil) }
