package main

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Most tests change production in one way, and expect a fault that names the change, so a check
// that no longer finds anything fails here.

var rendered = sync.OnceValues(func() ([]object, error) {
	return renderFilled("../k8s", "templates/production", "testdata/values.env", "")
})

func production(t *testing.T) (*Set, *Matrix) {
	t.Helper()
	objects, err := rendered()
	if err != nil {
		t.Fatal(err)
	}
	set, err := newSet(objects)
	if err != nil {
		t.Fatal(err)
	}
	matrix, err := readMatrix("../k8s/reachability.json")
	if err != nil {
		t.Fatal(err)
	}
	return set, matrix
}

func expectFault(t *testing.T, faults []string, parts ...string) {
	t.Helper()
	for _, fault := range faults {
		found := true
		for _, part := range parts {
			found = found && strings.Contains(fault, part)
		}
		if found {
			return
		}
	}
	t.Errorf("no fault has %q; faults: %q", parts, faults)
}

func (s *Set) workload(label string) *Workload {
	for i := range s.workloads {
		if s.workloads[i].label() == label {
			return &s.workloads[i]
		}
	}
	return nil
}

func (s *Set) dropPolicy(name string) {
	var kept []networkingv1.NetworkPolicy
	for _, policy := range s.policies {
		if policy.Name != name {
			kept = append(kept, policy)
		}
	}
	s.policies = kept
}

func TestProductionHasNoFault(t *testing.T) {
	set, matrix := production(t)
	faults, pairs := checkReachability(set, matrix)
	faults = append(faults, checkPodSecurity(set)...)
	faults = append(faults, checkConventions(set, true)...)
	if len(faults) > 0 || pairs.open < 50 || pairs.all < 500 {
		t.Errorf("%d of %d connections open, faults: %q", pairs.open, pairs.all, faults)
	}
}

func TestReachability(t *testing.T) {
	port := func(number int32) []networkingv1.NetworkPolicyPort {
		value := intstr.FromInt32(number)
		return []networkingv1.NetworkPolicyPort{{Port: &value}}
	}
	pods := func(name string) []networkingv1.NetworkPolicyPeer {
		labels := map[string]string{"app.kubernetes.io/name": name}
		return []networkingv1.NetworkPolicyPeer{{PodSelector: &metav1.LabelSelector{MatchLabels: labels}}}
	}
	cases := map[string]struct {
		change func(*Set)
		fault  []string
	}{
		"phrases may call signing": {func(s *Set) {
			in := &s.policy("signing").Spec.Ingress[0]
			in.From = append(in.From, pods("phrases")...)
			out := &s.policy("phrases").Spec
			out.Egress = append(out.Egress, networkingv1.NetworkPolicyEgressRule{To: pods("signing"), Ports: port(7153)})
		}, []string{"phrases → signing mesh", "open, the matrix says closed"}},
		"the gateway may call signing's admin door": {func(s *Set) {
			s.policy("signing").Spec.Ingress[0].Ports = nil
			s.policy("gateway").Spec.Egress[2].Ports = nil
		}, []string{"gateway → signing admin (7053): open"}},
		"delivery may not call signing": {func(s *Set) {
			s.policy("signing").Spec.Ingress = nil
		}, []string{"delivery → signing mesh", "closed, the matrix says open"}},
		"delivery may read the cloud's metadata": {func(s *Set) {
			spec := &s.policy("delivery").Spec
			block := networkingv1.IPBlock{CIDR: "0.0.0.0/0", Except: []string{"10.0.0.0/8"}}
			to := []networkingv1.NetworkPolicyPeer{{IPBlock: &block}}
			spec.Egress = append(spec.Egress, networkingv1.NetworkPolicyEgressRule{To: to})
		}, []string{"delivery → cloud metadata http (80): open"}},
		"documents may call the Internet": {func(s *Set) {
			spec := &s.policy("documents").Spec
			spec.Egress = append(spec.Egress, networkingv1.NetworkPolicyEgressRule{})
		}, []string{"documents → internet https (443): open"}},
		"MongoDB's servers may be called at every port": {func(s *Set) {
			s.policy("external-mongodb").Spec.Egress[0].Ports = nil
		}, []string{"gateway → managed mongodb ssh (22): open"}},
		"an address in the place of a range": {func(s *Set) {
			s.policy("external-mongodb").Spec.Egress[0].To[0].IPBlock.CIDR = "10.30.0.5"
		}, []string{"NetworkPolicy/external-mongodb", "10.30.0.5"}},
		"nobody may ask DNS": {func(s *Set) { s.dropPolicy("dns") },
			[]string{"gateway → dns dns (53): closed"}},
		"any namespace may come to a teams door": {func(s *Set) {
			s.policy("documents").Spec.Ingress[0].From[0].NamespaceSelector = &metav1.LabelSelector{}
		}, []string{"stranger → documents teams (7051): open"}},
		"pods of the namespace without a policy are open": {func(s *Set) { s.dropPolicy("default-deny") },
			[]string{"stranger → neighbour any (8080): open"}},
		"a namespace with our labels is taken for ours": {func(s *Set) {
			s.policy("signing").Spec.Ingress[0].From[0].NamespaceSelector = &metav1.LabelSelector{}
			s.policy("signing").Spec.Ingress[0].From[1].NamespaceSelector = &metav1.LabelSelector{}
		}, []string{"stranger with our labels → signing mesh (7153): open"}},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			set, matrix := production(t)
			test.change(set)
			faults, _ := checkReachability(set, matrix)
			expectFault(t, faults, test.fault...)
		})
	}
}

// Other addresses than those of values.env: delivery may call every public one, and members of
// MongoDB every one at port 443.
func TestADeploymentMayHaveItsServersAtAnyAddressAndPort(t *testing.T) {
	_, matrix := production(t)
	for cidr, number := range map[string]int32{"10.60.0.0/24": 443, "93.184.216.7/32": 8080, "2606:4700::/32": 443} {
		for name, target := range map[string]string{
			"external-mongodb": "templates/production",
			"webhook-proxy":    "tests/other-names",
		} {
			set, err := newSet(filled(t, target))
			if err != nil {
				t.Fatal(err)
			}
			rule := &set.policy(name).Spec.Egress[0]
			port := intstr.FromInt32(number)
			rule.To[0].IPBlock.CIDR, rule.Ports[0].Port = cidr, &port
			if faults, _ := checkReachability(set, matrix); len(faults) > 0 {
				t.Errorf("%s at %s, port %d: %q", name, cidr, number, faults)
			}
		}
	}
}

func TestPodSecurity(t *testing.T) {
	cases := map[string]struct {
		change func(*Set, *corev1.Container)
		fault  string
	}{
		"a capability": {func(_ *Set, c *corev1.Container) {
			c.SecurityContext.Capabilities.Add = []corev1.Capability{"NET_RAW"}
		}, "unrestricted capabilities"},
		"privilege escalation": {func(_ *Set, c *corev1.Container) { c.SecurityContext.AllowPrivilegeEscalation = nil },
			"allowPrivilegeEscalation != false"},
		"root": {func(s *Set, _ *corev1.Container) {
			s.workload("gateway").template.Spec.SecurityContext.RunAsNonRoot = nil
		},
			"runAsNonRoot != true"},
		"no seccomp": {func(s *Set, _ *corev1.Container) {
			s.workload("gateway").template.Spec.SecurityContext.SeccompProfile = nil
		},
			"seccompProfile"},
		"a namespace that enforces less": {func(s *Set, _ *corev1.Container) {
			s.namespace.Labels["pod-security.kubernetes.io/enforce"] = "baseline"
		}, `enforces "baseline"`},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			set, _ := production(t)
			test.change(set, &set.workload("gateway").template.Spec.Containers[0])
			expectFault(t, checkPodSecurity(set), test.fault)
		})
	}
}

func TestConventions(t *testing.T) {
	cases := map[string]struct {
		change func(*Set, *corev1.PodSpec)
		fault  string
	}{
		"a tag": {func(_ *Set, p *corev1.PodSpec) { p.Containers[0].Image = "vidimus/gateway:1" }, "not pinned by a digest"},
		"no version": {func(s *Set, _ *corev1.PodSpec) {
			delete(s.workload("gateway").template.Labels, "app.kubernetes.io/version")
		}, "the pods of Deployment/gateway: without the label app.kubernetes.io/version"},
		"pods of another instance": {func(s *Set, _ *corev1.PodSpec) {
			s.workload("gateway").template.Labels["app.kubernetes.io/instance"] = "another"
		}, "the pods of Deployment/gateway have another instance"},
		"a policy of no instance": {func(s *Set, _ *corev1.PodSpec) {
			delete(s.objects["NetworkPolicy/default-deny"], "app.kubernetes.io/instance")
		}, "NetworkPolicy/default-deny: without the label app.kubernetes.io/instance"},
		"a budget without a name": {func(s *Set, _ *corev1.PodSpec) {
			delete(s.objects["PodDisruptionBudget/nats"], "app.kubernetes.io/name")
		}, "PodDisruptionBudget/nats: without the label app.kubernetes.io/name"},
		"a labelled volume claim": {func(s *Set, _ *corev1.PodSpec) {
			s.workload("nats").claims[0].Labels = map[string]string{"app.kubernetes.io/instance": "vidimus"}
		}, "StatefulSet/nats: the volume claim data has labels"},
		"a token":         {func(_ *Set, p *corev1.PodSpec) { p.AutomountServiceAccountToken = nil }, "service-account token"},
		"a writable root": {func(_ *Set, p *corev1.PodSpec) { p.Containers[0].SecurityContext.ReadOnlyRootFilesystem = nil }, "can be written"},
		"a readable key": {func(_ *Set, p *corev1.PodSpec) {
			for _, volume := range p.Volumes {
				if volume.Secret != nil {
					volume.Secret.DefaultMode = nil
				}
			}
		}, "secret volume tls does not have mode 0400"},
		"another's secret": {func(_ *Set, p *corev1.PodSpec) {
			for _, volume := range p.Volumes {
				if volume.Secret != nil {
					volume.Secret.SecretName = "attestation-key"
				}
			}
		}, "mounts the Secret attestation-key of documents and signing"},
		"a report": {func(_ *Set, p *corev1.PodSpec) {
			p.Containers[0].Env = []corev1.EnvVar{{Name: "NODE_OPTIONS", Value: "--report-on-fatalerror"}}
		}, "into reports"},
		"no preStop": {func(_ *Set, p *corev1.PodSpec) { p.Containers[0].Lifecycle = nil }, "has no preStop"},
		"no budget":  {func(s *Set, _ *corev1.PodSpec) { s.budgets = nil }, "has 0 PodDisruptionBudgets"},
		"a secret":   {func(s *Set, _ *corev1.PodSpec) { s.objects["Secret/x"] = nil }, "Secret/x stands in a manifest"},
		"a password": {func(s *Set, _ *corev1.PodSpec) { s.yaml = append(s.yaml, "url: mongodb://a:b@c/"...) },
			"contains a credential"},
		"a port renamed": {func(_ *Set, p *corev1.PodSpec) { p.Containers[0].Ports[1].Name = "grpc" }, "leads to no named port"},
		"a named port in a policy": {func(s *Set, _ *corev1.PodSpec) {
			name := intstr.FromString("mesh")
			s.policy("signing").Spec.Ingress[0].Ports[0].Port = &name
		}, "must have a number"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			set, _ := production(t)
			test.change(set, &set.workload("gateway").template.Spec)
			expectFault(t, checkConventions(set, true), test.fault)
		})
	}
}

var definitions = sync.OnceValues(func() (Definitions, error) { return loadDefinitions(filepath.Join(os.TempDir(), "vidimus-crds")) })

// withChange renders production with one text replaced in the objects of a kind.
func withChange(t *testing.T, kind, old, new string) []object {
	t.Helper()
	objects, err := rendered()
	if err != nil {
		t.Fatal(err)
	}
	var changed []object
	for _, each := range objects {
		if each.kind == kind {
			if !strings.Contains(string(each.text), old) {
				t.Fatalf("%s/%s has no %q", kind, each.name, old)
			}
			each.text = []byte(strings.Replace(string(each.text), old, new, 1))
		}
		changed = append(changed, each)
	}
	return changed
}

func TestCustomResourcesAgreeWithTheirDefinitions(t *testing.T) {
	known, err := definitions()
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range []struct{ kind, old, new, fault string }{
		{"Certificate", "rotationPolicy: Always", "rotationPolicy: Sometimes", "rotationPolicy: Unsupported value"},
		{"Certificate", "secretName:", "secretNames:", "spec.secretName: Required value"},
		{"Certificate", "  duration:", "  lifetime: 1h\n  duration:", "there is no field spec.lifetime"},
		{"Certificate", "cert-manager.io/v1", "cert-manager.io/v9", "no definition of cert-manager.io/v9 Certificate"},
	} {
		faults, _ := checkCustomResources(withChange(t, change.kind, change.old, change.new), known)
		expectFault(t, faults, change.kind+"/gateway", change.fault)
	}
	faults, count := checkCustomResources(withChange(t, "Certificate", "secretName:", "secretName:"), known)
	if len(faults) > 0 || count == 0 {
		t.Errorf("%d custom resources, faults: %q", count, faults)
	}
}
