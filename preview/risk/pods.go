package risk

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/cloud"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/pods"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

func podRules() []entry {
	return slices.Concat(isolationRules(), volumeRules(), podIdentityRules(), podNetworkRules(), placementRules(), codeRules())
}

// isolationRules returns the rules about settings that separate containers from the
// node.
func isolationRules() []entry {
	return []entry{
		{Rule: rules.PodPrivileged, object: containerMatch(privileged)},
		{Rule: rules.PodHostPath, object: podMatch(pods.HostPaths)},
		{Rule: rules.PodHostProcesses, object: podMatch(flags("hostPID", "hostIPC"))},
		{Rule: rules.PodHostNetwork, object: podMatch(flags("hostNetwork"))},
		{Rule: rules.PodHostPort, object: containerMatch(hostPorts)},
		{Rule: rules.PodCapabilities, object: containerMatch(pods.Capabilities)},
		{Rule: rules.PodKeepsCapabilities, object: containerMatch(pods.KeepsCapabilities)},
		{Rule: rules.PodRoot, object: containerMatch(root)},
		{Rule: rules.PodPrivilegeEscalation, object: containerMatch(escalation)},
		{Rule: rules.PodUnconfined, object: unconfinedPod},
		{Rule: rules.PodNoSeccomp, object: containerMatch(noSeccomp)},
		{Rule: rules.PodSysctls, object: podMatch(sysctls)},
		{Rule: rules.PodHostProcess, object: containerMatch(hostProcess)},
		{Rule: rules.PodTokenAudience, object: podMatch(foreignTokens)},
		{Rule: rules.PodSecretEnv, object: containerMatch(secretEnv)},
		{Rule: rules.PodControlPlane, object: facts(controlPlane)},
		{Rule: rules.PodPreempts, object: facts(preempts)},
		{Rule: rules.PodNoLimits, object: containerMatch(noLimits)},
	}
}

// podMatch returns a matcher that calls judge with the pod template of an object, and
// does not match objects without one.
func podMatch(judge func(pod map[string]any) (Level, []preview.Seen)) objectMatch {
	return facts(func(_ *scan, o *preview.Object) (Level, []preview.Seen) {
		pod, _ := preview.PodTemplate(o.Planned)
		if pod == nil {
			return None, nil
		}
		return judge(pod)
	})
}

// containerMatch returns a matcher that calls judge with every container of an object's
// pod template. The highest level counts, and every piece of evidence names the container.
func containerMatch(judge func(pod, container map[string]any) (Level, []preview.Seen)) objectMatch {
	return func(_ *scan, o *preview.Object) (Level, []preview.Piece) {
		pod, _ := preview.PodTemplate(o.Planned)
		worst, evidence := None, []preview.Piece(nil)
		for _, container := range cloud.Containers(pod) {
			level, found := judge(pod, container)
			for _, fact := range found {
				evidence = append(evidence, preview.Piece{Item: &preview.Item{Kind: "container", Name: preview.String(container, "name")}, Seen: &fact})
			}
			if len(found) > 0 {
				worst = max(worst, level)
			}
		}
		return worst, evidence
	}
}

func privileged(_, container map[string]any) (Level, []preview.Seen) {
	if preview.Value(container, "securityContext", "privileged") == true {
		return None, []preview.Seen{words.Privileged.Of()}
	}
	return None, nil
}

func flags(names ...string) func(map[string]any) (Level, []preview.Seen) {
	return func(pod map[string]any) (Level, []preview.Seen) {
		var lines []preview.Seen
		for _, name := range names {
			if pod[name] == true {
				lines = append(lines, words.Name.Of(name))
			}
		}
		return None, lines
	}
}

func hostPorts(pod, container map[string]any) (Level, []preview.Seen) {
	var lines []preview.Seen
	for _, port := range preview.Maps(container, "ports") {
		if n, ok := port["hostPort"].(int64); ok && n != 0 && pod["hostNetwork"] != true {
			lines = append(lines, words.HostPort.Of(n))
		}
	}
	return None, lines
}

// securitySetting returns a field of the securityContext of a container, else of its
// pod; nil if neither sets the field.
func securitySetting(pod, container map[string]any, path ...string) any {
	for _, level := range []map[string]any{preview.Map(container, "securityContext"), preview.Map(pod, "securityContext")} {
		if v := preview.Value(level, path...); v != nil {
			return v
		}
	}
	return nil
}

func root(pod, container map[string]any) (Level, []preview.Seen) {
	user, numeric := securitySetting(pod, container, "runAsUser").(int64)
	if numeric && user == 0 {
		return None, []preview.Seen{words.RunAsUser0.Of()}
	}
	if (!numeric || user < 0) && securitySetting(pod, container, "runAsNonRoot") != true { // else not root, whatever the image says
		return None, []preview.Seen{words.RunAsNonRootIsNotSet.Of()}
	}
	return None, nil
}

func escalation(_, container map[string]any) (Level, []preview.Seen) {
	if preview.Value(container, "securityContext", "allowPrivilegeEscalation") == false {
		return None, nil
	}
	return None, []preview.Seen{words.AllowPrivilegeEscalationIsNotFalse.Of()}
}

func unconfined(pod, container map[string]any) (Level, []preview.Seen) {
	var lines []preview.Seen
	for _, profile := range []string{"seccompProfile", "appArmorProfile"} {
		if securitySetting(pod, container, profile, "type") == "Unconfined" {
			lines = append(lines, words.ProfileUnconfined.Of(profile))
		}
	}
	for _, field := range []string{"type", "user", "role", "level"} {
		v, _ := securitySetting(pod, container, "seLinuxOptions", field).(string)
		if field == "level" && !strings.Contains(v, ".c1023") {
			continue // only all categories belong to others
		}
		if v != "" && !(field == "type" && slices.Contains([]string{"container_t", "container_init_t", "container_kvm_t", "container_engine_t"}, v)) {
			lines = append(lines, words.SeLinuxOptions.Of(field, preview.EvidenceName(v)))
		}
	}
	if securitySetting(pod, container, "procMount") == "Unmasked" {
		lines = append(lines, words.ProcMountUnmasked.Of())
	}
	return None, lines
}

func noSeccomp(pod, container map[string]any) (Level, []preview.Seen) {
	if securitySetting(pod, container, "seccompProfile", "type") == nil {
		return None, []preview.Seen{words.NoSeccompProfile.Of()}
	}
	return None, nil
}

// safeSysctls are the sysctls that the baseline pod security standard permits.
var safeSysctls = []string{
	"kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.ip_unprivileged_port_start", "net.ipv4.tcp_syncookies",
	"net.ipv4.ping_group_range", "net.ipv4.ip_local_reserved_ports", "net.ipv4.tcp_keepalive_time", "net.ipv4.tcp_fin_timeout",
	"net.ipv4.tcp_keepalive_intvl", "net.ipv4.tcp_keepalive_probes", "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem",
}

func sysctls(pod map[string]any) (Level, []preview.Seen) {
	var lines []preview.Seen
	for _, item := range preview.Maps(pod, "securityContext", "sysctls") {
		name := preview.String(item, "name")
		if dotted := strings.ReplaceAll(name, "/", "."); !slices.Contains(safeSysctls, dotted) {
			lines = append(lines, words.Sysctl.Of(preview.EvidenceName(name)))
		}
	}
	return None, lines
}

func hostProcess(pod, container map[string]any) (Level, []preview.Seen) {
	if securitySetting(pod, container, "windowsOptions", "hostProcess") == true {
		return None, []preview.Seen{words.HostProcess.Of()}
	}
	return None, nil
}

// podNetworkRules returns the rules about host names that pods override, probes to
// other hosts, and environment variables.
func podNetworkRules() []entry {
	return []entry{
		{Rule: rules.PodNames, object: podMatch(pods.NameOverrides)},
		{Rule: rules.PodOpenServer, object: openServer},
		{Rule: rules.PodProbeElsewhere, object: containerMatch(pods.ProbesElsewhere)},
		{Rule: rules.PodEnvironment, object: containerMatch(pods.Environment)},
	}
}

// volumeRules returns the rules about volumes of pods, except hostPath.
func volumeRules() []entry {
	return []entry{
		{Rule: rules.PodGitRepo, object: podMatch(pods.GitRepos)},
		{Rule: rules.PodVolumeAddress, object: podMatch(pods.AddressedVolumes)},
		{Rule: rules.PodVolumeProgram, object: podMatch(pods.VolumePrograms)},
		{Rule: rules.PodImageVolume, object: podMatch(pods.ImageVolumes)},
		{Rule: rules.PodSubPath, object: containerMatch(pods.SubPaths)},
		{Rule: rules.PodCertificate, object: podMatch(pods.PodCertificates)},
	}
}
