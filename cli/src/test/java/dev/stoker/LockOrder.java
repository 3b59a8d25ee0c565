package dev.stoker;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.FieldInsnNode;
import org.objectweb.asm.tree.InvokeDynamicInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.VarInsnNode;

/**
 * Which locks are taken while others are held, read from byte code. Two threads that take two locks in opposite order
 * can wait for each other forever, so the graph must have no cycle.
 *
 * <p>A lock is named by where it stands: the class of a monitor, or the field of a lock or of an object that is
 * synchronized on. All objects of a class count as one, so two objects of one class are not told apart. A call can
 * reach each method of that name and type in the class and in what extends it. A lambda counts as called where it is
 * made; other implementations of the JDK's interfaces do not count.
 */
final class LockOrder {
    private static final Set<String> LOCKS =
            Set.of("java/util/concurrent/locks/Lock", "java/util/concurrent/locks/ReentrantLock");

    private record Call(String owner, String name, Set<String> held) {}

    private static final class Method {
        final Set<String> taken = new TreeSet<>();
        final List<Call> calls = new ArrayList<>();
        /** The locks of this method and of all that it calls. */
        final Set<String> reached = new TreeSet<>();
    }

    /** Methods by name and type, of each class. */
    private final Map<String, Map<String, Method>> classes = new HashMap<>();

    private final Map<String, Set<String>> below = new HashMap<>();
    private final Map<String, List<String>> above = new HashMap<>();
    private final Map<String, Map<String, String>> edges = new TreeMap<>();

    private LockOrder() {}

    /** Reads classes. */
    static LockOrder of(Collection<String> classNames) throws IOException {
        LockOrder order = new LockOrder();
        for (String name : classNames) {
            try (InputStream in =
                    LockOrder.class.getClassLoader().getResourceAsStream(name.replace('.', '/') + ".class")) {
                if (in == null) {
                    throw new IOException("no class file of " + name);
                }
                ClassNode node = new ClassNode();
                new ClassReader(in).accept(node, ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
                order.read(node);
            }
        }
        order.spread();
        order.connect();
        return order;
    }

    /** Returns each lock that was found. */
    Set<String> locks() {
        Set<String> locks = new TreeSet<>();
        classes.values().forEach(methods -> methods.values().forEach(method -> locks.addAll(method.taken)));
        return locks;
    }

    /** Returns the pairs of locks of which the second is taken while the first is held. */
    Set<String> pairs() {
        Set<String> pairs = new TreeSet<>();
        edges.forEach((held, taken) -> taken.keySet().forEach(lock -> pairs.add(held + " > " + lock)));
        return pairs;
    }

    /** Returns, for each cycle, its locks, and the method in which each next one is taken. */
    List<String> cycles() {
        List<String> cycles = new ArrayList<>();
        Set<String> told = new HashSet<>();
        for (String start : edges.keySet()) {
            if (told.contains(start)) {
                continue;
            }
            List<String> path = path(start);
            if (!path.isEmpty()) {
                told.addAll(path);
                StringBuilder text = new StringBuilder(start);
                String held = start;
                for (String next : path) {
                    text.append("\n  then ")
                            .append(next)
                            .append(" in ")
                            .append(edges.get(held).get(next));
                    held = next;
                }
                cycles.add(text.toString());
            }
        }
        return cycles;
    }

    /** Returns the shortest way from a lock back to it, without its start; empty if there is none. */
    private List<String> path(String start) {
        Map<String, String> from = new HashMap<>();
        Deque<String> open = new ArrayDeque<>(List.of(start));
        while (!open.isEmpty()) {
            String lock = open.remove();
            for (String next : edges.getOrDefault(lock, Map.of()).keySet()) {
                if (from.putIfAbsent(next, lock) == null) {
                    open.add(next);
                }
            }
        }
        List<String> path = new ArrayList<>();
        for (String at = start; from.containsKey(at); at = from.get(at)) {
            path.add(0, at);
            if (from.get(at).equals(start)) {
                return path;
            }
        }
        return List.of();
    }

    private void read(ClassNode node) {
        Map<String, Method> methods = classes.computeIfAbsent(node.name, name -> new HashMap<>());
        List<String> supers = new ArrayList<>(node.interfaces);
        if (node.superName != null) {
            supers.add(node.superName);
        }
        above.put(node.name, supers);
        supers.forEach(name -> below.computeIfAbsent(name, n -> new HashSet<>()).add(node.name));
        for (MethodNode code : node.methods) {
            methods.put(code.name + code.desc, read(node, code));
        }
    }

    /** Reads a method in the order of its code. javac puts the end of each block behind its body. */
    private Method read(ClassNode node, MethodNode code) {
        Method method = new Method();
        Set<String> held = new LinkedHashSet<>();
        if ((code.access & Opcodes.ACC_SYNCHRONIZED) != 0) {
            take(method, held, shortName(node.name));
        }
        String object = "";
        Deque<String> blocks = new ArrayDeque<>();
        for (AbstractInsnNode at = code.instructions.getFirst(); at != null; at = at.getNext()) {
            if (at instanceof FieldInsnNode field) {
                object = shortName(field.owner) + "." + field.name;
            } else if (at instanceof VarInsnNode variable
                    && variable.getOpcode() == Opcodes.ALOAD
                    && variable.var == 0
                    && (code.access & Opcodes.ACC_STATIC) == 0) {
                object = shortName(node.name);
            } else if (at.getOpcode() == Opcodes.MONITORENTER) {
                blocks.push(object);
                take(method, held, object);
            } else if (at.getOpcode() == Opcodes.MONITOREXIT && !blocks.isEmpty() && isLastExit(at)) {
                held.remove(blocks.pop());
            } else if (at instanceof MethodInsnNode call) {
                if (LOCKS.contains(call.owner) && call.name.equals("lock")) {
                    take(method, held, object);
                } else if (LOCKS.contains(call.owner) && call.name.equals("unlock")) {
                    if (isLastExit(at)) {
                        held.remove(object);
                    }
                } else {
                    method.calls.add(new Call(call.owner, call.name + call.desc, Set.copyOf(held)));
                }
            } else if (at instanceof InvokeDynamicInsnNode dynamic) {
                for (Object argument : dynamic.bsmArgs) {
                    if (argument instanceof Handle handle) {
                        method.calls.add(
                                new Call(handle.getOwner(), handle.getName() + handle.getDesc(), Set.copyOf(held)));
                    }
                }
            }
        }
        return method;
    }

    /** Returns whether this is the exit of the handler of exceptions, which is the last one of a block. */
    private static boolean isLastExit(AbstractInsnNode exit) {
        AbstractInsnNode next = exit.getNext();
        while (next != null && next.getOpcode() != Opcodes.ATHROW && next.getOpcode() <= Opcodes.ALOAD) {
            next = next.getNext();
        }
        return next != null && next.getOpcode() == Opcodes.ATHROW;
    }

    private void take(Method method, Set<String> held, String lock) {
        for (String outer : held) {
            edge(outer, lock, "the same method");
        }
        method.taken.add(lock);
        held.add(lock);
    }

    private void edge(String held, String taken, String where) {
        if (!held.equals(taken)) {
            edges.computeIfAbsent(held, lock -> new TreeMap<>()).putIfAbsent(taken, where);
        }
    }

    private void spread() {
        forEachMethod((owner, name, method) -> method.reached.addAll(method.taken));
        boolean[] more = {true};
        while (more[0]) {
            more[0] = false;
            forEachMethod((owner, name, method) -> {
                for (Call call : method.calls) {
                    for (Method callee : callees(call)) {
                        more[0] |= method.reached.addAll(callee.reached);
                    }
                }
            });
        }
    }

    private void connect() {
        forEachMethod((owner, name, method) -> {
            for (Call call : method.calls) {
                for (String held : call.held()) {
                    for (Method callee : callees(call)) {
                        String where = shortName(owner) + "." + name.substring(0, name.indexOf('(')) + ", which calls "
                                + shortName(call.owner()) + "."
                                + call.name().substring(0, call.name().indexOf('('));
                        callee.reached.forEach(taken -> edge(held, taken, where));
                    }
                }
            }
        });
    }

    private interface MethodVisitor {
        void visit(String owner, String name, Method method);
    }

    private void forEachMethod(MethodVisitor visitor) {
        classes.forEach((owner, methods) -> methods.forEach((name, method) -> visitor.visit(owner, name, method)));
    }

    /** Returns what a call can reach: the method of the class, an inherited one, and those that override it. */
    private Set<Method> callees(Call call) {
        Set<Method> found = new LinkedHashSet<>();
        Set<String> seen = new HashSet<>();
        Deque<String> open = new ArrayDeque<>(List.of(call.owner()));
        while (!open.isEmpty()) {
            String owner = open.remove();
            if (seen.add(owner) && owner.startsWith("dev/stoker/")) {
                Method method = classes.getOrDefault(owner, Map.of()).get(call.name());
                if (method != null) {
                    found.add(method);
                } else if (owner.equals(call.owner())) {
                    inherited(owner, call.name(), found);
                }
                open.addAll(below.getOrDefault(owner, Set.of()));
            }
        }
        return found;
    }

    private void inherited(String owner, String name, Set<Method> found) {
        for (String parent : above.getOrDefault(owner, List.of())) {
            Method method = classes.getOrDefault(parent, Map.of()).get(name);
            if (method != null) {
                found.add(method);
            } else {
                inherited(parent, name, found);
            }
        }
    }

    private static String shortName(String internalName) {
        String name = Type.getObjectType(internalName).getClassName();
        return name.substring(name.lastIndexOf('.') + 1).replace('$', '.');
    }
}
