// Package quota compares the pods of a plan with ResourceQuotas and LimitRanges.
package quota

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/cloud"
)

// Misfits returns a line for each quota or limit that the pods of the objects exceed.
func Misfits(limits []map[string]any, objects []*preview.Object) []string {
	ranges := slices.DeleteFunc(slices.Clone(limits), func(b map[string]any) bool { return !preview.IsKind(b, preview.KindLimitRange) })
	var lines []string
	total := amounts{}
	for _, o := range objects {
		pod, _ := preview.PodTemplate(o.Planned)
		needs, missing := needsOf(pod, ranges)
		total.add(needs, minReplicas(o))
		for _, body := range limits {
			switch preview.RefOf(body).GroupKind() {
			case preview.KindResourceQuota:
				lines = append(lines, checkUnset(body, o.ID, missing)...)
			case preview.KindLimitRange:
				lines = append(lines, checkRange(body, o.ID, pod)...)
			}
		}
	}
	for _, body := range limits {
		if preview.IsKind(body, preview.KindResourceQuota) && !countsSomePods(body) {
			lines = append(lines, total.over(body)...)
		}
	}
	return lines
}

// countsSomePods reports whether a quota has scopes, so that it counts only some pods.
// Scopes are not evaluated.
func countsSomePods(quota map[string]any) bool {
	return len(preview.List(quota, "spec", "scopes")) > 0 || preview.Map(quota, "spec", "scopeSelector") != nil
}

// minReplicas returns the number of pods that an object creates, without autoscaling; 1
// if it does not say.
func minReplicas(o *preview.Object) int64 {
	path := []string{"spec", "replicas"}
	if o.Is(preview.KindJob) {
		path = []string{"spec", "parallelism"}
	}
	if n, ok := preview.Value(o.Planned, path...).(int64); ok && n >= 0 && n < 1e6 {
		return n
	}
	return 1
}

// amounts are quantities by the name that a quota has for them, such as requests.cpu.
type amounts map[string]resource.Quantity

func (a amounts) add(more amounts, times int64) {
	for name, q := range more {
		sum := a[name]
		q.Mul(times)
		sum.Add(q)
		a[name] = sum
	}
	pods := a["pods"]
	pods.Add(*resource.NewQuantity(times, resource.DecimalSI))
	a["pods"] = pods
}

func (a amounts) over(quota map[string]any) []string {
	var lines []string
	hard := preview.Map(quota, "spec", "hard")
	for _, name := range slices.Sorted(maps.Keys(hard)) {
		limit, ok := quantity(hard[name])
		if need, needed := a[quotaName(name)]; ok && needed && need.Cmp(limit) > 0 {
			lines = append(lines, fmt.Sprintf("%s allows %s %s, and the plan needs %s",
				preview.RefOf(quota).ID(), name, limit.String(), need.String()))
		}
	}
	return lines
}

// quotaName returns the full name for a short name of a quota: requests.cpu for cpu.
func quotaName(name string) string {
	switch name {
	case "cpu", "memory", "ephemeral-storage":
		return "requests." + name
	}
	return strings.TrimPrefix(name, "count/")
}

// needsOf returns the sum of the requests and limits of a pod's containers, with the
// defaults of LimitRanges, and the requests and limits that a container does not set,
// each with the container's name. Init containers are left out.
func needsOf(pod map[string]any, ranges []map[string]any) (amounts, map[string]string) {
	needs, missing := amounts{}, map[string]string{}
	for _, container := range preview.Maps(pod, "containers") {
		for _, name := range []string{"cpu", "memory", "ephemeral-storage"} {
			limit, hasLimit := quantity(firstOf(preview.Value(container, "resources", "limits", name), defaultOf(ranges, "default", name)))
			request, hasRequest := quantity(firstOf(preview.Value(container, "resources", "requests", name),
				preview.Value(container, "resources", "limits", name), defaultOf(ranges, "defaultRequest", name)))
			for key, q := range map[string]struct {
				amount resource.Quantity
				ok     bool
			}{"limits." + name: {limit, hasLimit}, "requests." + name: {request, hasRequest}} {
				if !q.ok {
					missing[key] = preview.String(container, "name")
					continue
				}
				sum := needs[key]
				sum.Add(q.amount)
				needs[key] = sum
			}
		}
	}
	return needs, missing
}

// defaultOf returns the default of LimitRanges for containers: field is default or
// defaultRequest, name such as cpu. It is nil if there is none.
func defaultOf(ranges []map[string]any, field, name string) any {
	for _, body := range ranges {
		for _, item := range preview.Maps(body, "spec", "limits") {
			if preview.String(item, "type") == "Container" {
				if v := preview.Value(item, field, name); v != nil {
					return v
				}
			}
		}
	}
	return nil
}

// checkUnset returns a line for each request or limit that a quota on CPU or memory
// requires and a container does not set.
func checkUnset(quota map[string]any, id string, missing map[string]string) []string {
	var lines []string
	if countsSomePods(quota) {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(preview.Map(quota, "spec", "hard"))) {
		key := quotaName(name)
		if container, ok := missing[key]; ok && (strings.HasSuffix(key, ".cpu") || strings.HasSuffix(key, ".memory")) {
			lines = append(lines, fmt.Sprintf("%s limits %s, and container %s of %s does not set it", preview.RefOf(quota).ID(), name, container, id))
		}
	}
	return lines
}

// checkRange returns a line for each request or limit of a container that is outside
// the minimum and maximum of a LimitRange.
func checkRange(limits map[string]any, id string, pod map[string]any) []string {
	var lines []string
	for _, item := range preview.Maps(limits, "spec", "limits") {
		if preview.String(item, "type") != "Container" {
			continue
		}
		for _, container := range cloud.Containers(pod) {
			for _, side := range []struct {
				bound, of string
				sign      int
			}{{"max", "limits", 1}, {"max", "requests", 1}, {"min", "requests", -1}, {"min", "limits", -1}} {
				bounds := preview.Map(item, side.bound)
				for _, name := range slices.Sorted(maps.Keys(bounds)) {
					bound, ok := quantity(bounds[name])
					set, isSet := quantity(preview.Value(container, "resources", side.of, name))
					if ok && isSet && set.Cmp(bound)*side.sign > 0 {
						lines = append(lines, fmt.Sprintf("%s: %s %s is %s, and container %s of %s has %s %s", preview.RefOf(limits).ID(),
							side.bound, name, bound.String(), preview.String(container, "name"), id, side.of, set.String()))
					}
				}
			}
		}
	}
	return lines
}

func firstOf(values ...any) any {
	for _, v := range values {
		if v != nil {
			return v
		}
	}
	return nil
}

// quantity parses a quantity, which YAML has as a string or a number; ok is false for
// others.
func quantity(v any) (resource.Quantity, bool) {
	switch v.(type) {
	case string, int64, float64:
		q, err := resource.ParseQuantity(fmt.Sprint(v))
		return q, err == nil
	}
	return resource.Quantity{}, false
}
