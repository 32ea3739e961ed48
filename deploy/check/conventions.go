package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

var digest = regexp.MustCompile(`@sha256:[0-9a-f]{64}$`)

// A credential in a URL, or a private key.
var secretText = regexp.MustCompile(`://[^/\s:@]+:[^/\s@]+@|-----BEGIN [A-Z ]*PRIVATE KEY`)

// The only workloads that may mount a Secret.
var secretOwners = map[string][]string{
	"signing-kek":     {"signing"},
	"delivery-kek":    {"delivery"},
	"attestation-key": {"documents", "signing"},
	"console-oidc":    {"console"},
}

// Labels of every object, by which a deployment is listed, and those of a program besides.
var (
	commonLabels  = []string{"instance", "part-of"}
	programLabels = []string{"name", "version", "component"}
	programKinds  = []string{
		"Deployment", "StatefulSet", "Job", "Service", "ServiceAccount", "HorizontalPodAutoscaler", "PodDisruptionBudget",
	}
)

const instanceLabel = "app.kubernetes.io/instance"

// checkConventions checks what Kubernetes itself accepts and this project does not.
func checkConventions(set *Set, byDigest bool) []string {
	faults := append(checkSecrets(set), checkLabels(set)...)
	for _, workload := range set.workloads {
		faults = append(faults, checkWorkload(workload, byDigest)...)
		if workload.kind != "Job" {
			faults = append(faults, checkAvailability(set, workload)...)
		}
	}
	for _, policy := range set.policies {
		for _, rule := range policy.Spec.Ingress {
			for _, port := range rule.Ports {
				faults = append(faults, checkPolicyPort(policy.Name, port.Port)...)
			}
		}
		for _, rule := range policy.Spec.Egress {
			for _, port := range rule.Ports {
				faults = append(faults, checkPolicyPort(policy.Name, port.Port)...)
			}
		}
	}
	return append(faults, checkServices(set)...)
}

func checkSecrets(set *Set) []string {
	var faults []string
	for object := range set.objects {
		if strings.HasPrefix(object, "Secret/") {
			faults = append(faults, object+" stands in a manifest; secrets are made in the cluster")
		}
	}
	if found := secretText.Find(set.yaml); found != nil {
		faults = append(faults, "a manifest contains a credential")
	}
	return faults
}

func checkLabels(set *Set) []string {
	var faults []string
	for _, object := range sortedKeys(set.objects) {
		wanted := commonLabels
		if kind, _, _ := strings.Cut(object, "/"); slices.Contains(programKinds, kind) {
			wanted = slices.Concat(commonLabels, programLabels)
		}
		faults = append(faults, lackedLabels(object, set.objects[object], wanted)...)
	}
	for _, workload := range set.workloads {
		object := workload.kind + "/" + workload.name
		pods, labels := "the pods of "+object, workload.template.Labels
		faults = append(faults, lackedLabels(pods, labels, slices.Concat(commonLabels, programLabels))...)
		if labels[instanceLabel] != set.objects[object][instanceLabel] {
			faults = append(faults, pods+" have another instance than it has")
		}
		for _, claim := range workload.claims {
			if len(claim.Labels) > 0 {
				faults = append(faults, object+": the volume claim "+claim.Name+" has labels, which no apply can change")
			}
		}
	}
	return faults
}

func lackedLabels(what string, labels map[string]string, wanted []string) []string {
	var faults []string
	for _, label := range wanted {
		if key := "app.kubernetes.io/" + label; labels[key] == "" {
			faults = append(faults, fmt.Sprintf("%s: without the label %s", what, key))
		}
	}
	return faults
}

// checkPolicyPort refuses names, which some network plugins do not resolve for egress.
func checkPolicyPort(policy string, port *intstr.IntOrString) []string {
	if port == nil || port.Type == intstr.String {
		return []string{fmt.Sprintf("NetworkPolicy/%s: every port must have a number", policy)}
	}
	return nil
}

func checkWorkload(workload Workload, byDigest bool) []string {
	var faults []string
	fault := func(format string, values ...any) {
		faults = append(faults, workload.kind+"/"+workload.name+": "+fmt.Sprintf(format, values...))
	}
	spec := workload.template.Spec
	if spec.AutomountServiceAccountToken == nil || *spec.AutomountServiceAccountToken {
		fault("mounts a service-account token")
	}
	if spec.EnableServiceLinks == nil || *spec.EnableServiceLinks {
		fault("gets the environment of other Services")
	}
	if spec.ServiceAccountName == "" || spec.ServiceAccountName == "default" {
		fault("has no service account of its own")
	}
	for _, container := range spec.Containers {
		if byDigest && !digest.MatchString(container.Image) {
			fault("image %s is not pinned by a digest", container.Image)
		}
		if context := container.SecurityContext; context == nil || context.ReadOnlyRootFilesystem == nil || !*context.ReadOnlyRootFilesystem {
			fault("the root file system can be written")
		}
		for _, variable := range container.Env {
			if strings.Contains(variable.Value, "--report-on-") && !strings.Contains(variable.Value, "--report-exclude-env") {
				fault("writes its environment, and the credentials in it, into reports")
			}
		}
		if container.Resources.Requests.Memory().IsZero() || container.Resources.Limits.Memory().IsZero() {
			fault("has no memory request or no limit")
		}
	}
	for _, volume := range spec.Volumes {
		if volume.Secret != nil && (volume.Secret.DefaultMode == nil || *volume.Secret.DefaultMode != 0o400) {
			fault("secret volume %s does not have mode 0400", volume.Name)
		}
		if volume.Secret != nil {
			owners, restricted := secretOwners[volume.Secret.SecretName]
			if restricted && !slices.Contains(owners, workload.label()) {
				fault("mounts the Secret %s of %s", volume.Secret.SecretName, strings.Join(owners, " and "))
			}
		}
	}
	return faults
}

// checkAvailability checks what keeps a workload serving while nodes and releases change.
func checkAvailability(set *Set, workload Workload) []string {
	var faults []string
	fault := func(text string) { faults = append(faults, workload.kind+"/"+workload.name+" "+text) }
	spec := workload.template.Spec
	selected := func(selector *metav1.LabelSelector) bool { return matches(selector, workload.template.Labels) }
	budgets := 0
	for _, budget := range set.budgets {
		if selected(budget.Spec.Selector) {
			budgets++
		}
	}
	if budgets != 1 {
		fault(fmt.Sprintf("has %d PodDisruptionBudgets, not one", budgets))
	}
	scaled := false
	for _, scaler := range set.scalers {
		scaled = scaled || scaler.Spec.ScaleTargetRef.Kind == workload.kind && scaler.Spec.ScaleTargetRef.Name == workload.name
	}
	if scaled == (workload.replicas != nil) {
		fault("needs either replicas or a HorizontalPodAutoscaler")
	}
	for _, key := range []string{corev1.LabelTopologyZone, corev1.LabelHostname} {
		spread := slices.ContainsFunc(spec.TopologySpreadConstraints, func(each corev1.TopologySpreadConstraint) bool {
			return each.TopologyKey == key && each.LabelSelector != nil && selected(each.LabelSelector)
		})
		if !spread {
			fault("is not spread over " + key)
		}
	}
	for _, container := range spec.Containers {
		if container.ReadinessProbe == nil || container.LivenessProbe == nil || container.StartupProbe == nil {
			fault("lacks a probe")
		}
		if container.Lifecycle == nil || container.Lifecycle.PreStop == nil {
			fault("has no preStop")
		}
	}
	return faults
}

// checkServices checks that every Service leads to a port of a workload, by its name.
func checkServices(set *Set) []string {
	var faults []string
	for _, service := range set.services {
		for _, port := range service.Spec.Ports {
			if !leadsSomewhere(set, service, port) {
				faults = append(faults, fmt.Sprintf("Service/%s: port %s leads to no named port", service.Name, port.Name))
			}
		}
	}
	return faults
}

func leadsSomewhere(set *Set, service corev1.Service, port corev1.ServicePort) bool {
	selector := &metav1.LabelSelector{MatchLabels: service.Spec.Selector}
	for _, workload := range set.workloads {
		if !matches(selector, workload.template.Labels) {
			continue
		}
		for _, container := range workload.template.Spec.Containers {
			for _, named := range container.Ports {
				// A headless name leads to the pod itself, so both numbers must be the same.
				sameNumber := service.Spec.ClusterIP != corev1.ClusterIPNone || named.ContainerPort == port.Port
				if named.Name == port.TargetPort.StrVal && sameNumber {
					return true
				}
			}
		}
	}
	return false
}
