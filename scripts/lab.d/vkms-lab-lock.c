// Mends a hang of vkms, included by its vkms_crtc.c. A commit for several monitors takes the lock of each and gives them back one by one, and with the
// first it allows interrupts again: a timer of another monitor, whose lock is still held, then waits for it on the processor that holds it, for ever.

#include <linux/percpu.h>

static DEFINE_PER_CPU(int, lab_locks_held);

static void lab_lock(spinlock_t *lock)
{
	local_irq_disable();
	__this_cpu_inc(lab_locks_held);
	spin_lock(lock);
}

static void lab_unlock(spinlock_t *lock)
{
	spin_unlock(lock);
	if (!__this_cpu_dec_return(lab_locks_held))
		local_irq_enable();
}
