// SPDX-License-Identifier: Apache-2.0
// What the virtual machine turns its own signals into: java Faults overflow|null|hook.
public class Faults {
	int field;

	static int get(Faults faults) {
		return faults.field;
	}

	static int deeper(int depth) {
		return deeper(depth + 1) + 1;
	}

	static void overflow() throws Exception {
		Thread[] threads = new Thread[8];
		for (int i = 0; i < threads.length; i++) {
			threads[i] = new Thread(() -> {
				try {
					deeper(0);
				} catch (StackOverflowError error) {
					System.out.println("stack overflow");
				}
			});
			threads[i].start();
		}
		for (Thread thread : threads)
			thread.join();
	}

	static void dereferenceNull() {
		int count = 0;
		for (int i = 0; i < 300000; i++) {
			try {
				count += get(i % 3 == 0 ? null : new Faults());
			} catch (NullPointerException error) {
				count++;
			}
		}
		System.out.println(count + " null pointers");
	}

	static void endWithHook() throws Exception {
		Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("hook")));
		new ProcessBuilder("kill", "" + ProcessHandle.current().pid()).start();
		Thread.sleep(60000);
	}

	public static void main(String[] arguments) throws Exception {
		switch (arguments[0]) {
		case "overflow" -> overflow();
		case "null" -> dereferenceNull();
		default -> endWithHook();
		}
	}
}
