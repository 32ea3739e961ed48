package main

import (
	"fmt"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// A Workload is the pod template of a Deployment, StatefulSet or Job.
type Workload struct {
	kind, name string
	template   corev1.PodTemplateSpec
	// claims are the volumes that a StatefulSet makes for each pod.
	claims []corev1.PersistentVolumeClaim
	// replicas is nil when the manifest names none.
	replicas *int32
}

// label is the name that the workload's pods carry.
func (w Workload) label() string { return w.template.Labels["app.kubernetes.io/name"] }

// A Set is what one overlay or combination renders.
type Set struct {
	yaml      []byte
	count     int
	namespace *corev1.Namespace
	workloads []Workload
	services  []corev1.Service
	policies  []networkingv1.NetworkPolicy
	budgets   []policyv1.PodDisruptionBudget
	scalers   []autoscalingv2.HorizontalPodAutoscaler
	// objects holds the labels of everything, by "Kind/name".
	objects map[string]map[string]string
}

// policy returns a NetworkPolicy by its name, or nil.
func (s *Set) policy(name string) *networkingv1.NetworkPolicy {
	for i := range s.policies {
		if s.policies[i].Name == name {
			return &s.policies[i]
		}
	}
	return nil
}

// An object is one rendered manifest.
type object struct {
	kind, name string
	labels     map[string]string
	text       []byte
}

// render runs kustomize, in the version of kubectl 1.32, on a folder.
func render(folder string) ([]object, error) { return renderFrom(filesys.MakeFsOnDisk(), folder) }

func renderFrom(files filesys.FileSystem, folder string) ([]object, error) {
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(files, folder)
	if err != nil {
		return nil, err
	}
	var objects []object
	for _, resource := range resources.Resources() {
		text, err := resource.AsYAML()
		if err != nil {
			return nil, err
		}
		objects = append(objects, object{resource.GetKind(), resource.GetName(), resource.GetLabels(), text})
	}
	return objects, nil
}

// newSet reads rendered objects.
func newSet(objects []object) (*Set, error) {
	set := &Set{count: len(objects), objects: map[string]map[string]string{}}
	for _, each := range objects {
		set.yaml = append(append(set.yaml, "---\n"...), each.text...)
		set.objects[each.kind+"/"+each.name] = maps.Clone(each.labels)
		if err := set.add(each.kind, each.text); err != nil {
			return nil, fmt.Errorf("%s/%s: %w", each.kind, each.name, err)
		}
	}
	return set, nil
}

// add reads one object, strictly: a field that does not exist is a fault.
func (s *Set) add(kind string, text []byte) error {
	switch kind {
	case "Namespace":
		s.namespace = &corev1.Namespace{}
		return yaml.UnmarshalStrict(text, s.namespace)
	case "Deployment":
		return read(text, func(d appsv1.Deployment) {
			s.workloads = append(s.workloads, Workload{kind, d.Name, d.Spec.Template, nil, d.Spec.Replicas})
		})
	case "StatefulSet":
		return read(text, func(d appsv1.StatefulSet) {
			s.workloads = append(s.workloads,
				Workload{kind, d.Name, d.Spec.Template, d.Spec.VolumeClaimTemplates, d.Spec.Replicas})
		})
	case "Job":
		return read(text, func(d batchv1.Job) {
			s.workloads = append(s.workloads, Workload{kind, d.Name, d.Spec.Template, nil, nil})
		})
	case "Service":
		return read(text, func(v corev1.Service) { s.services = append(s.services, v) })
	case "NetworkPolicy":
		return read(text, func(v networkingv1.NetworkPolicy) { s.policies = append(s.policies, v) })
	case "PodDisruptionBudget":
		return read(text, func(v policyv1.PodDisruptionBudget) { s.budgets = append(s.budgets, v) })
	case "HorizontalPodAutoscaler":
		return read(text, func(v autoscalingv2.HorizontalPodAutoscaler) { s.scalers = append(s.scalers, v) })
	}
	return nil
}

func read[T any](text []byte, keep func(T)) error {
	var value T
	if err := yaml.UnmarshalStrict(text, &value); err != nil {
		return err
	}
	keep(value)
	return nil
}
